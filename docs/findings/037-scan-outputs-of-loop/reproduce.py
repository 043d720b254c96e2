"""Finding 037: Loop concatenates scan outputs along an existing axis. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (int64 M, bool C) => (float[n, 2, 1] Y) {
  Y = Loop <body = b (int64 i, bool c) => (bool go, float[2, 1] w)
    { go = Identity (c) w = Constant <value = float[2, 1] {5, 7}> () }> (M, C) }""")
feeds = {"M": np.array(2), "C": np.array(True)}
right = np.array([[[5], [7]], [[5], [7]]], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
