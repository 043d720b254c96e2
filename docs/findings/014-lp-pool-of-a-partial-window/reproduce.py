"""Finding 014: LpPool counts padding elements. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 18]>
g (float[1, 1, 3] X) => (float[1, 1, 2] Y) {
  Y = LpPool <kernel_shape = [2], strides = [2], ceil_mode = 1, p = 1> (X) }""")
feeds = {"X": np.array([[[1, 2, 3]]], np.float32)}
right = np.array([[[3, 3]]], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
