"""Finding 041: SequenceInsert at the end inserts at the beginning. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 11]>
g (seq(float[1]) S, float[1] T, int64 P) => (seq(float[1]) R) { R = SequenceInsert (S, T, P) }""")
feeds = {"S": [np.array([1], np.float32)], "T": np.array([2], np.float32), "P": np.array(1)}
right = np.array([[1], [2]], np.float32)
got = np.array(ReferenceEvaluator(model).run(None, feeds)[0])
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if np.array_equal(got, right) else 1)
