"""Finding 084: LinearClassifier without intercepts divides zero by zero. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 1, "ai.onnx.ml": 1]>
g (float[1, 1] X) => (int64[1] Y, float[1, 3] Z) {
  Y, Z = ai.onnx.ml.LinearClassifier <classlabels_ints = [7, 8, 9], coefficients = [1.0, -1.0, 3.0]> (X) }""")
feeds = {"X": np.array([[2]], np.float32)}
right = np.array([9])
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
