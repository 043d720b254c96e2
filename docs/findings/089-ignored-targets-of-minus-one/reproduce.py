"""Finding 089: NegativeLogLikelihoodLoss counts targets that it ignores. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (float[2, 2] X, int64[2] T) => (float L) { L = NegativeLogLikelihoodLoss <ignore_index = -1> (X, T) }""")
feeds = {"X": np.array([[-1, -2], [-4, -5]], np.float32), "T": np.array([-1, 1])}
right = np.array(5, np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
