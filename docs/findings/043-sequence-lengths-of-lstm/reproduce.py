"""Finding 043: LSTM continues past the end of a sequence. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 14]>
g (float[2, 1, 1] X, float[1, 4, 1] W, float[1, 4, 1] R, int32[1] N) => (float[1, 1, 1] Y) {
  Z, Y = LSTM <hidden_size = 1> (X, W, R, "", N) }""")
feeds = {"X": np.ones((2, 1, 1), np.float32), "W": np.ones((1, 4, 1), np.float32), "R": np.zeros((1, 4, 1), np.float32)}
feeds["N"] = np.array([1], np.int32)
right = np.full((1, 1, 1), 0.36960638, np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.shape == right.shape and np.allclose(got, right, rtol=1e-5) else 1)
