"""Attention outputs scores after softcap where those before it are requested. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 24]>
g (float[1, 1, 1, 1] Q) => (float[1, 1, 1, 1] S) {
  Y, "", "", S = Attention <softcap = 1.0, scale = 1.0, qk_matmul_output_mode = 0> (Q, Q, Q) }""")
feeds = {"Q": np.full((1, 1, 1, 1), 10, np.float32)}
right = np.full((1, 1, 1, 1), 100, np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
