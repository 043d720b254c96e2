"""Finding 091: LRN spreads an infinity to channels outside its window. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (float[1, 3, 1, 1] X) => (float[1, 3, 1, 1] Y) { Y = LRN <alpha = 3.0, beta = 1.0, bias = 1.0, size = 3> (X) }""")
feeds = {"X": np.array([np.inf, 1, 1], np.float32).reshape(1, 3, 1, 1)}
right = np.array([np.nan, 0, 1 / 3], np.float32).reshape(1, 3, 1, 1)
got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.allclose(got, right, equal_nan=True) else 1)
