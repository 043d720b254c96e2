"""Finding 090: LayerNormalization returns statistics in the type of X. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 17]>
g (double[1, 2] X, double[2] S) => (float[1, 1] M, double[1, 2] Y) { Y, M = LayerNormalization (X, S) }""")
feeds = {"X": np.array([[1.0, 3.0]]), "S": np.ones(2)}
right = np.array([[2]], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
