"""Finding 024: MatMulInteger subtracts zero points of rows from columns. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 10]>
g (uint8[2, 2] A, uint8[2, 2] B, uint8[2] Z) => (int32[2, 2] Y) { Y = MatMulInteger (A, B, Z) }""")
feeds = {"A": np.array([[1, 2], [3, 4]], np.uint8), "B": np.eye(2, dtype=np.uint8), "Z": np.array([1, 0], np.uint8)}
right = np.array([[0, 1], [3, 4]], np.int32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
