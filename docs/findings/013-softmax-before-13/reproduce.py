"""Finding 013: Softmax of opset 11 is computed as that of opset 13. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 11]>
g (float[1, 2, 2] X) => (float[1, 2, 2] Y) { Y = Softmax (X) }""")
feeds = {"X": np.zeros((1, 2, 2), np.float32)}
right = np.full((1, 2, 2), 0.25, np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.shape == right.shape and np.allclose(got, right, rtol=1e-5) else 1)
