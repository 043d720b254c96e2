"""Finding 063: STFT with frames of length 0 ends the process. Exit code 1 where it shows, else 0."""

import subprocess
import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 17]>
g (float[1, 4, 1] x, int64 s, int64 n) => (float[1, F, B, 2] y) { y = STFT (x, s, , n) }""")
feeds = {"x": np.ones((1, 4, 1), np.float32), "s": np.array(1), "n": np.array(0)}
if sys.argv[1:]:  # the child, which dies alone
    print(onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0])
    sys.exit()
done = subprocess.run([sys.executable, __file__, "child"], capture_output=True, text=True)
print("got  ", f"signal {-done.returncode}" if done.returncode < 0 else done.stdout.strip())
print("right", "an error")
sys.exit(1 if done.returncode < 0 else 0)
