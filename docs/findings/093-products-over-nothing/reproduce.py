"""Finding 093: MatMulInteger over an empty sum returns uninitialised memory. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 10]>
g (uint8[1, K] A, uint8[K, 64] B) => (int32[1, 64] Y) { Y = MatMulInteger (A, B) }""")
session = onnxruntime.InferenceSession(model.SerializeToString())
for inner in (3, 0):  # the first run leaves its product in memory
    feeds = {"A": np.full((1, inner), 7, np.uint8), "B": np.full((inner, 64), 9, np.uint8)}
    got = session.run(None, feeds)[0].copy()
right = np.zeros((1, 64), np.int32)
print("got  ", got.dtype, got.shape, got[0, -1])
print("right", right.dtype, right.shape, right[0, -1])
sys.exit(0 if np.array_equal(got, right) else 1)
