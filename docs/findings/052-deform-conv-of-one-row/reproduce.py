"""Finding 052: DeformConv of an image of one row fails. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 19]>
g (float[1,1,1,3] X, float[1,1,1,1] W, float[1,2,1,3] O) => (float[1,1,1,3] Y) { Y = DeformConv (X, W, O) }""")
feeds = {"X": np.array([[[[1, 2, 3]]]], np.float32), "W": np.full((1, 1, 1, 1), 2, np.float32)}
right = np.array([[[[2, 4, 6]]]], np.float32)
feeds["O"] = np.zeros((1, 2, 1, 3), np.float32)
try:
    got = ReferenceEvaluator(model).run(None, feeds)[0]
except Exception as error:
    got = np.array(" ".join(str(error).split())[:200])
print("got  ", got)
print("right", right)
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
