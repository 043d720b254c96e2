"""Finding 058: GridSample of integers mixes with weights of zero. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 20]>
g (int32[1, 1, 1, 2] X, float[1, 1, 1, 2] G) => (int32[1, 1, 1, 1] Y) { Y = GridSample (X, G) }""")
feeds = {"X": np.array([[[[0, 10]]]], np.int32), "G": np.zeros((1, 1, 1, 2), np.float32)}
right = np.array([[[[5]]]], np.int32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
