"""Finding 069: GridSample of version 16 refuses bilinear. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 16]>
g (float[1, 1, 1, 2] X, float[1, 1, 1, 2] G) => (float[1, 1, 1, 1] Y) { Y = GridSample <mode = "bilinear"> (X, G) }""")
feeds = {"X": np.array([[[[0, 10]]]], np.float32), "G": np.zeros((1, 1, 1, 2), np.float32)}
right = np.array([[[[5]]]], np.float32)
try:
    got = ReferenceEvaluator(model).run(None, feeds)[0]
except RuntimeError as error:
    got = np.array(str(error))
print("got  ", got.shape, got.tolist())
print("right", right.shape, right.tolist())
sys.exit(0 if np.array_equal(got, right) else 1)
