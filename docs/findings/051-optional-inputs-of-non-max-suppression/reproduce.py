"""Finding 051: NonMaxSuppression without optional inputs breaks off. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 6, opset_import: ["": 11]>
g (float[1, 2, 4] B, float[1, 1, 2] S, int64[1] M) => (int64[2, 3] I) { I = NonMaxSuppression (B, S, M) }""")
feeds = {"B": np.array([[[0, 0, 1, 1], [2, 2, 3, 3]]], np.float32), "S": np.array([[[2, 1]]], np.float32)}
right = np.array([[0, 0, 0], [0, 0, 1]])
feeds["M"] = np.array([2])
try:
    got = ReferenceEvaluator(model).run(None, feeds)[0]
except Exception as error:
    got = np.array(" ".join(str(error).split())[:200])
print("got  ", got)
print("right", right)
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
