"""Finding 057: Flatten fails where the outer dimension is empty. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (float[0, 3] X) => (float[0, 3] Y) { Y = Flatten (X) }""")
feeds = {"X": np.zeros((0, 3), np.float32)}
right = np.zeros((0, 3), np.float32)
try:
    got = ReferenceEvaluator(model).run(None, feeds)[0]
except Exception as error:
    got = np.array(" ".join(str(error).split())[:200])
print("got  ", got)
print("right", right)
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
