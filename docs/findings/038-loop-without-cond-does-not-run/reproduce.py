"""Finding 038: Loop without cond does not run at all. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (int64 M, float V) => (float R) {
  R = Loop <body = b (int64 i, bool c, float v) => (bool go, float w)
    { go = Constant <value = bool {1}> () w = Add (v, v) }> (M, "", V) }""")
feeds = {"M": np.array(3), "V": np.array(1, np.float32)}
right = np.array(8, np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
