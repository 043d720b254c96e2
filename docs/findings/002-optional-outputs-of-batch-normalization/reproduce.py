"""BatchNormalization-9 with two of its outputs left out ends the process. Exit code 1 where it shows, else 0."""

import subprocess
import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 9]>
g (float[1, 1, 2] X, float[1] S, float[1] B, float[1] M, float[1] V) => (float[1, 1, 2] Y, float[1] SM, float[1] SV) {
  Y, "", "", SM, SV = BatchNormalization (X, S, B, M, V) }""")
feeds = {name: np.array([1], np.float32) for name in "SBMV"} | {"X": np.array([[[1, 5]]], np.float32)}
right = "an answer, or an error"
if sys.argv[1:]:  # the child, which dies alone
    sys.exit(str(onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)))
done = subprocess.run([sys.executable, __file__, "child"], capture_output=True, text=True)
print("got  ", done.stderr.strip()[-200:] if done.returncode > 0 else f"signal {-done.returncode}")
print("right", right)
sys.exit(0 if done.returncode > 0 else 1)
