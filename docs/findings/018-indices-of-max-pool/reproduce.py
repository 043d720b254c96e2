"""Finding 018: MaxPool returns indices of elements that are not the maximum. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 12]>
g (float[1, 1, 4, 4] X) => (float[1, 1, 3, 3] Y, int64[1, 1, 3, 3] I) {
  Y, I = MaxPool <kernel_shape = [2, 2]> (X) }""")
feeds = {"X": np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)}
right = np.array([[[[5, 6, 7], [9, 10, 11], [13, 14, 15]]]])
got = ReferenceEvaluator(model).run(None, feeds)[1]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
