"""Finding 080: Selu of version 1 has the scale of version 6. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 1]>
g (float[1] X) => (float[1] Y) { Y = Selu (X) }""")
feeds = {"X": np.array([1], np.float32)}
right = np.array([1.0507], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
