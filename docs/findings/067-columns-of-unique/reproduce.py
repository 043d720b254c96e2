"""Finding 067: Unique of unsorted columns returns all of them. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 11]>
g (int64[2, 3] x) => (int64[2, N] y, int64[N] i) { y, i = Unique <axis = 1, sorted = 0> (x) }""")
feeds = {"x": np.array([[2, 1, 2], [3, 4, 3]])}
right = np.array([[2, 1], [3, 4]])
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.shape, got.tolist())
print("right", right.shape, right.tolist())
sys.exit(0 if np.array_equal(got, right) else 1)
