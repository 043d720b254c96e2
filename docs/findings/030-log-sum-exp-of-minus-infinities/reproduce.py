"""Finding 030: ReduceLogSumExp of minus infinities is NaN. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 18]>
g (float[2] X) => (float Y) { Y = ReduceLogSumExp <keepdims = 0> (X) }""")
feeds = {"X": np.full(2, -np.inf, np.float32)}
right = np.array(-np.inf, np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
