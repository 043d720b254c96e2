"""Finding 016: MaxPool reads its pads in a wrong order. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 12]>
g (float[1, 1, 2, 2] X) => (float[1, 1, 1, 2] Y) {
  Y = MaxPool <kernel_shape = [2, 2], pads = [0, 1, 0, 0]> (X) }""")
feeds = {"X": np.array([[[[1, 2], [3, 4]]]], np.float32)}
right = np.array([[[[3, 4]]]], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
