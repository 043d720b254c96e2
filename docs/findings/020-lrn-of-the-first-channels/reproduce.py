"""Finding 020: LRN normalises as many channels as there are images. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (float[1, 2, 1, 1] X) => (float[1, 2, 1, 1] Y) {
  Y = LRN <size = 1, alpha = 1.0, beta = 1.0, bias = 1.0> (X) }""")
feeds = {"X": np.array([1, 2], np.float32).reshape(1, 2, 1, 1)}
right = np.array([1 / 2, 2 / 5], np.float32).reshape(1, 2, 1, 1)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.shape == right.shape and np.allclose(got, right, rtol=1e-5) else 1)
