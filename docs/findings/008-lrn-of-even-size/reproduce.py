"""Finding 008: LRN refuses an even size. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (float[1, 3, 1, 1] X) => (float[1, 3, 1, 1] Y) {
  Y = LRN <size = 2, alpha = 2.0, beta = 1.0, bias = 1.0> (X) }""")
feeds = {"X": np.array([1, 2, 3], np.float32).reshape(1, 3, 1, 1)}
right = np.array([1 / 6, 2 / 14, 3 / 10], np.float32).reshape(1, 3, 1, 1)
try:
    got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
except Exception as error:
    got = np.array(" ".join(str(error).split()))
print("got  ", got)
print("right", right)
sys.exit(0 if got.dtype == right.dtype and got.shape == right.shape and np.allclose(got, right, rtol=1e-5) else 1)
