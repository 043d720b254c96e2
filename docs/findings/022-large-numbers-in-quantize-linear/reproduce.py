"""Finding 022: QuantizeLinear returns 0 for large numbers. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (float[2] X, float S, uint8 Z) => (uint8[2] Y) { Y = QuantizeLinear (X, S, Z) }""")
feeds = {"X": np.array([3e9, 300], np.float32), "S": np.array(1, np.float32), "Z": np.array(0, np.uint8)}
right = np.array([255, 255], np.uint8)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
