"""Finding 015: AveragePool with ceil_mode shifts every window. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 19]>
g (float[1, 1, 4] X) => (float[1, 1, 2] Y) {
  Y = AveragePool <kernel_shape = [3], strides = [3], ceil_mode = 1> (X) }""")
feeds = {"X": np.array([[[1, 2, 3, 4]]], np.float32)}
right = np.array([[[2, 4]]], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
