"""Finding 047: Optional wraps its element in a list. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 18]>
g (float[2] X) => (float[2] Y) { O = Optional (X) Y = OptionalGetElement (O) }""")
feeds = {"X": np.array([1, 2], np.float32)}
right = np.array([1, 2], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", type(got).__name__, got)
print("right", type(right).__name__, right)
sys.exit(0 if isinstance(got, np.ndarray) and np.array_equal(got, right) else 1)
