"""Finding 083: BatchNormalization returns running values in the type of X. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
g (float[2, 1] X, float[1] S, float[1] B, double[1] M, double[1] V) => (double[1] RM, float[2, 1] Y, double[1] RV) {
  Y, RM, RV = BatchNormalization <epsilon = 0.0, momentum = 0.5, training_mode = 1> (X, S, B, M, V) }""")
feeds = {"X": np.array([[1], [3]], np.float32), "S": np.ones(1, np.float32), "B": np.zeros(1, np.float32)}
feeds |= {"M": np.array([10.0]), "V": np.array([3.0])}
right = np.array([6.0])
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
