"""Finding 079: RMSNormalization returns the type of X. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 23]>
g (float16[1] X, float[1] S) => (float[1] Y) { Y = RMSNormalization <epsilon = 0.0> (X, S) }""")
feeds = {"X": np.array([2], np.float16), "S": np.array([3], np.float32)}
right = np.array([3], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
