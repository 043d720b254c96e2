"""Finding 073: OneHot compares fractions where it should cast them. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 11]>
g (float[2] X, float D, float[2] V) => (float[2, 2] Y) { Y = OneHot (X, D, V) }""")
feeds = {"X": np.array([1.9, -0.9], np.float32), "D": np.array(2, np.float32), "V": np.array([0, 1], np.float32)}
right = np.array([[0, 1], [1, 0]], np.float32)
got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
