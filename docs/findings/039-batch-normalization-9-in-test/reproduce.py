"""Finding 039: BatchNormalization-9 mixes the batch into its test mode. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 9]>
g (float[1, 1, 2] X, float[1] S, float[1] B, float[1] M, float[1] V) => (float[1, 1, 2] Y) {
  Y = BatchNormalization <epsilon = 0.0, momentum = 0.5> (X, S, B, M, V) }""")
feeds = {name: np.array([name != "B"], np.float32) for name in "SBMV"} | {"X": np.array([[[1, 3]]], np.float32)}
right = np.array([[[0, 2]]], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.shape == right.shape and np.allclose(got, right, rtol=1e-5) else 1)
