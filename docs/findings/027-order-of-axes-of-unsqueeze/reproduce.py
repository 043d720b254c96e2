"""Finding 027: Unsqueeze of opset 11 depends on the order of its axes. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 11]>
g (float[3, 4] X) => (float[1, 1, 3, 4] Y) { Y = Unsqueeze <axes = [1, 0]> (X) }""")
feeds = {"X": np.zeros((3, 4), np.float32)}
right = np.zeros((1, 1, 3, 4), np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
