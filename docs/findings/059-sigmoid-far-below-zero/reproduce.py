"""Finding 059: Sigmoid far below zero is accurate in absolute terms only. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (float[16] X) => (float[16] Y) { Y = Sigmoid (X) }""")
x = np.full(16, -18.5, np.float32)
right = 1 / (1 + np.exp(-x.astype(np.float64)))
got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"X": x})[0]
print("got  ", got[0])
print("right", right[0])
sys.exit(0 if np.all(np.abs(got - right) <= 2.0**-10 * right) else 1)
