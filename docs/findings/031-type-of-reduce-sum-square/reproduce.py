"""Finding 031: ReduceSumSquare of int32 is int64. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 18]>
g (int32[2] X) => (int32 Y) { Y = ReduceSumSquare <keepdims = 0> (X) }""")
feeds = {"X": np.array([2, 3], np.int32)}
right = np.array(13, np.int32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
