"""Finding 055: Dropout in training fails without a ratio. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (float[2] X, bool T) => (float[2] Y) { Y = Dropout (X, "", T) }""")
feeds = {"X": np.zeros(2, np.float32), "T": np.array(True)}
right = np.zeros(2, np.float32)
try:
    got = ReferenceEvaluator(model).run(None, feeds)[0]
except Exception as error:
    got = np.array(" ".join(str(error).split())[:200])
print("got  ", got)
print("right", right)
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
