"""Finding 115: ConvTranspose takes a group's weights by the number of output channels. Exit code 1 where it shows."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 11]>
g (float[1, 4, 1] X, float[4, 1, 1] W) => (float[1, 2, 1] Y) { Y = ConvTranspose <group = 2> (X, W) }""")
feeds = {"X": np.array([[[1], [2], [3], [5]]], np.float32), "W": np.ones((4, 1, 1), np.float32)}
right = [[[3.0], [8.0]]]
try:
    got = ReferenceEvaluator(model).run(None, feeds)[0].tolist()
except ValueError as error:
    got = f"ValueError: {error}"
print("got  ", got)
print("right", right)
sys.exit(0 if got == right else 1)
