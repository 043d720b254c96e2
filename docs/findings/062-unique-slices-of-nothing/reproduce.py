"""Finding 062: Unique of slices without elements ends the process. Exit code 1 where it shows, else 0."""

import subprocess
import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 11]>
g (float[2, 0] x) => (float[N, 0] y) { y = Unique <axis = 0> (x) }""")
feeds = {"x": np.zeros((2, 0), np.float32)}
if sys.argv[1:]:  # the child, which dies alone
    print(onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0])
    sys.exit()
done = subprocess.run([sys.executable, __file__, "child"], capture_output=True, text=True)
print("got  ", f"signal {-done.returncode}" if done.returncode < 0 else done.stdout.strip())
print("right", "[]")
sys.exit(1 if done.returncode < 0 else 0)
