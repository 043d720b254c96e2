"""Finding 023: QLinearMatMul rounds after it has added the zero point. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 10]>
g (uint8[1, 1] A, float S, uint8 Z, float T, uint8 O) => (uint8[1, 1] Y) {
  Y = QLinearMatMul (A, S, Z, A, T, Z, S, O) }""")
feeds = {"A": np.ones((1, 1), np.uint8), "S": np.array(1, np.float32), "T": np.array(0.5, np.float32)}
feeds |= {"Z": np.array(0, np.uint8), "O": np.array(1, np.uint8)}
right = np.array([[1]], np.uint8)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
