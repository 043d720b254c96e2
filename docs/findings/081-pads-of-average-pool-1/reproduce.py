"""Finding 081: AveragePool of version 1 counts its padding. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 1]>
g (float[1, 1, 2] X) => (float[1, 1, 3] Y) { Y = AveragePool <kernel_shape = [2], pads = [1, 1]> (X) }""")
feeds = {"X": np.array([[[2, 4]]], np.float32)}
right = np.array([[[2, 3, 4]]], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
