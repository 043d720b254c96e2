"""Finding 056: Dropout in training returns float32 for float16. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (float16[2] X, float P, bool T) => (float16[2] Y) { Y = Dropout (X, P, T) }""")
feeds = {"X": np.zeros(2, np.float16), "P": np.array(0.5, np.float32), "T": np.array(True)}
right = np.zeros(2, np.float16)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
