"""Finding 094: Split crashes with more outputs than num_outputs. Exit code 1 where it shows, else 0."""

import subprocess
import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 18]>
g (float[2] X) => (float[N] Y, float[M] Z) { Y, Z = Split <num_outputs = 1> (X) }""")
if sys.argv[1:]:  # the child, which dies alone
    onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"X": np.ones(2, np.float32)})
    sys.exit(0)
done = subprocess.run([sys.executable, __file__, "child"], capture_output=True, text=True)
print("got  ", f"exit code {done.returncode}" if done.returncode >= 0 else f"signal {-done.returncode}")
print("right", "an error")
sys.exit(1 if done.returncode < 0 else 0)
