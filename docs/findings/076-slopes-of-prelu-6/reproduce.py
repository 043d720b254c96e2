"""Finding 076: PRelu before version 7 reads slopes as columns. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 6]>
g (float[1, 2, 2] X, float[2] S) => (float[1, 2, 2] Y) { Y = PRelu (X, S) }""")
feeds = {"X": np.array([[[-1, 2], [-3, -4]]], np.float32), "S": np.array([0.5, 0.25], np.float32)}
right = np.array([[[-0.5, 2], [-0.75, -1]]], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
