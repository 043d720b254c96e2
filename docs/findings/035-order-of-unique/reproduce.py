"""Finding 035: Unique sorts with sorted = 0. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 11]>
g (float[3] X) => (float[2] Y) { Y = Unique <sorted = 0> (X) }""")
feeds = {"X": np.array([2, 1, 1], np.float32)}
right = np.array([2, 1], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
