"""Finding 044: LayerNormalization of float16 is computed in float16. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 17]>
g (float16[2] X, float16[2] S) => (float16[2] Y) { Y = LayerNormalization (X, S) }""")
feeds = {"X": np.array([60000, -60000], np.float16), "S": np.ones(2, np.float16)}
right = np.array([1, -1], np.float16)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
