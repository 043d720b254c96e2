"""Finding 070: Det of a matrix with NaN is 0. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 11]>
g (float[2, 2] X) => (float Y) { Y = Det (X) }""")
feeds = {"X": np.array([[np.nan, 1], [1, 1]], np.float32)}
right = np.float32("nan")
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.shape, got.tolist())
print("right", right.shape, right.tolist())
sys.exit(0 if np.isnan(got) else 1)
