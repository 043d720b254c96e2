"""Finding 040: GatherElements wraps an index that is out of range. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (float[3] X, int64[1] I) => (float[1] Y) { Y = GatherElements <axis = 0> (X, I) }""")
feeds = {"X": np.array([1, 2, 3], np.float32), "I": np.array([3])}
right = "an error"
try:
    got = ReferenceEvaluator(model).run(None, feeds)[0]
except Exception:
    got = right
print("got  ", got)
print("right", right)
sys.exit(0 if got is right else 1)
