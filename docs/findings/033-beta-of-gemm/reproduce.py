"""Finding 033: Gemm of opset 6 drops beta. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 6]>
g (float[1, 1] A, float[1, 1] B, float[1, 1] C) => (float[1, 1] Y) { Y = Gemm <beta = 2.0> (A, B, C) }""")
feeds = {"A": np.ones((1, 1), np.float32), "B": np.ones((1, 1), np.float32), "C": np.full((1, 1), 10, np.float32)}
right = np.array([[21]], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
