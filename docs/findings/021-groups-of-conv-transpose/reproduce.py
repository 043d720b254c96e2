"""Finding 021: ConvTranspose gives every group the bias of the first. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 11]>
g (float[1, 2, 1] X, float[2, 1, 1] W, float[2] B) => (float[1, 2, 1] Y) {
  Y = ConvTranspose <group = 2> (X, W, B) }""")
feeds = {"X": np.ones((1, 2, 1), np.float32), "W": np.ones((2, 1, 1), np.float32), "B": np.array([10, 20], np.float32)}
right = np.array([[[11], [21]]], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
