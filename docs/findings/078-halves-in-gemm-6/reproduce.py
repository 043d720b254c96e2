"""Finding 078: Gemm before version 7 returns float32 for float16. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 6]>
g (float16[1, 1] A, float16[1, 1] B, float16[1, 1] C) => (float16[1, 1] Y) { Y = Gemm (A, B, C) }""")
feeds = {"A": np.array([[1]], np.float16), "B": np.array([[2]], np.float16), "C": np.array([[1]], np.float16)}
right = np.array([[3]], np.float16)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
