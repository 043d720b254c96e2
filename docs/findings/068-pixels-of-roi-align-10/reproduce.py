"""Finding 068: RoiAlign of version 10 is computed as version 16. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 10]>
g (float[1, 1, 4, 4] X, float[1, 4] r, int64[1] b) => (float[1, 1, 2, 2] Y) {
  Y = RoiAlign <output_height = 2, output_width = 2, sampling_ratio = 1> (X, r, b) }""")
feeds = {"X": np.arange(16, dtype="f4").reshape(1, 1, 4, 4), "r": np.array([[0, 0, 3, 3]], "f4"), "b": np.array([0])}
right = np.array([[[[3.75, 5.25], [9.75, 11.25]]]], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.shape, got.tolist())
print("right", right.shape, right.tolist())
sys.exit(0 if np.array_equal(got, right) else 1)
