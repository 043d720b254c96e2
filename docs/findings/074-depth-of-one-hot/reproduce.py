"""Finding 074: OneHot rounds a fractional depth up. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 11]>
g (int64[1] X, float D, float[2] V) => (float[1, N] Y) { Y = OneHot (X, D, V) }""")
feeds = {"X": np.array([1]), "D": np.array(2.9, np.float32), "V": np.array([0, 1], np.float32)}
right = np.array([[0, 1]], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
