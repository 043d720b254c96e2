"""Finding 006: The largest of minus infinities is the lowest finite number. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (float[1, 1, 2] X) => (float[1, 1, 1] Y) { Y = GlobalMaxPool (X) }""")
feeds = {"X": np.full((1, 1, 2), -np.inf, np.float32)}
right = np.full((1, 1, 1), -np.inf, np.float32)
got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
