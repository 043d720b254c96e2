"""Finding 009: LSTM does not clip the input of activation h. Exit code 1 where it shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 14]>
g (float[1, 1, 1] X, float[1, 4, 1] W, float[1, 4, 1] R, float[1, 1, 1] C) => (float[1, 1, 1] Y) {
  Z, Y = LSTM <hidden_size = 1, clip = 0.5> (X, W, R, "", "", "", C) }""")
feeds = {"X": np.ones((1, 1, 1), np.float32), "C": np.full((1, 1, 1), 100, np.float32)}
feeds |= dict.fromkeys("WR", np.zeros((1, 4, 1), np.float32))
right = np.full((1, 1, 1), 0.5 * np.tanh(0.5), np.float32)
got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.shape == right.shape and np.allclose(got, right, rtol=1e-5) else 1)
