"""Finding 011: Attention shows masked scores as the lowest finite number. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 23]>
g (float[1, 1, 2, 1] Q, bool[2, 2] M) => (float[1, 1, 2, 2] S) {
  Y, "", "", S = Attention <scale = 1.0, qk_matmul_output_mode = 2> (Q, Q, Q, M) }""")
feeds = {"Q": np.ones((1, 1, 2, 1), np.float32), "M": np.array([[True, False], [True, True]])}
right = np.array([[[[1, -np.inf], [1, 1]]]], np.float32)
got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
