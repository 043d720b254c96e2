"""Finding 085: Resize drops the imaginary parts. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 18]>
g (complex64[1] X, float[1] S) => (complex64[2] Y) { Y = Resize (X, "", S) }""")
feeds = {"X": np.array([1 + 2j], np.complex64), "S": np.array([2], np.float32)}
right = np.array([1 + 2j, 1 + 2j], np.complex64)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
