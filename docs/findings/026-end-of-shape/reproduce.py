"""Finding 026: Shape reads an end before the first axis as counted from the back. Exit code 1 where it shows."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
g (float[2, 3, 4] X) => (int64[n] S) { S = Shape <end = -4> (X) }""")
feeds = {"X": np.zeros((2, 3, 4), np.float32)}
right = np.array([], np.int64)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
