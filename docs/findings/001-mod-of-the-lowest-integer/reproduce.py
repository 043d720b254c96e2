"""Finding 001: Mod of the most negative integer by -1 ends the process. Exit code 1 where it shows, else 0."""

import subprocess
import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (int32[1] A, int32[1] B) => (int32[1] C) { C = Mod (A, B) }""")
feeds = {"A": np.array([-(2**31)], np.int32), "B": np.array([-1], np.int32)}
right = np.array([0], np.int32)
if sys.argv[1:]:  # the child, which dies alone
    print(onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0])
    sys.exit()
done = subprocess.run([sys.executable, __file__, "child"], capture_output=True, text=True)
print("got  ", done.stdout.strip() or f"signal {-done.returncode}")
print("right", right)
sys.exit(0 if done.stdout.strip() == str(right) else 1)
