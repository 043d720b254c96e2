"""Finding 045: Mean refuses inputs that broadcast. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (float[1] A, float[2] B) => (float[2] Y) { Y = Mean (A, B) }""")
feeds = {"A": np.array([1], np.float32), "B": np.array([1, 2], np.float32)}
right = np.array([1, 1.5], np.float32)
try:
    got = ReferenceEvaluator(model).run(None, feeds)[0]
except Exception as error:
    got = np.array(" ".join(str(error).split()))
print("got  ", got)
print("right", right)
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
