"""Finding 019: LpNormalization with p = 1 adds without absolute values. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (float[2] X) => (float[2] Y) { Y = LpNormalization <axis = 0, p = 1> (X) }""")
feeds = {"X": np.array([-3, 4], np.float32)}
right = np.array([-3 / 7, 4 / 7], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.shape == right.shape and np.allclose(got, right, rtol=1e-5) else 1)
