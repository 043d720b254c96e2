"""Finding 010: MatMulInteger refuses a zero point for each row. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 10]>
g (uint8[2, 3] A, uint8[3, 1] B, uint8[2] Z) => (int32[2, 1] Y) { Y = MatMulInteger (A, B, Z) }""")
feeds = {"A": np.array([[1, 2, 3], [4, 5, 6]], np.uint8), "Z": np.array([1, 4], np.uint8)}
feeds["B"] = np.ones((3, 1), np.uint8)
right = np.array([[3], [3]], np.int32)
try:
    got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
except Exception as error:
    got = np.array(" ".join(str(error).split()))
print("got  ", got)
print("right", right)
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
