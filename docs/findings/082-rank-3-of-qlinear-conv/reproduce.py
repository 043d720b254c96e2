"""Finding 082: QLinearConv of rank 3 gains a dimension. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 10]>
g (uint8[1, 1, 1] X, float XS, uint8 XZ, uint8[2, 1, 1] W, float[2] WS, uint8[2] WZ, float YS, uint8 YZ) \
=> (uint8[1, 2, 1] Y) {
  Y = QLinearConv (X, XS, XZ, W, WS, WZ, YS, YZ) }""")
codes = map(np.uint8, ([[[2]]], 0, [[[3]], [[3]]], [0, 0], 0))
feeds = dict(zip(("X", "XZ", "W", "WZ", "YZ"), codes, strict=False))
feeds |= {"XS": np.float32(1), "WS": np.array([1, 2], np.float32), "YS": np.float32(1)}
right = np.array([[[6], [12]]], np.uint8)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
