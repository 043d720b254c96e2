"""Finding 025: OneHot computes values that it should copy. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 11]>
g (int64[1] I, int64 D, float[2] V) => (float[1, 2] Y) { Y = OneHot (I, D, V) }""")
feeds = {"I": np.array([0]), "D": np.array(2), "V": np.array([1e8, 1], np.float32)}
right = np.array([[1, 1e8]], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
