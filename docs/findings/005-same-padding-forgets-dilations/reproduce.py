"""Finding 005: auto_pad SAME of pools forgets the dilations. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 12]>
g (float[1, 1, 4] X) => (float[1, 1, n] Y) {
  Y = MaxPool <auto_pad = "SAME_UPPER", dilations = [2], kernel_shape = [2]> (X) }""")
feeds = {"X": np.array([[[1, 2, 3, 4]]], np.float32)}
right = np.array([[[2, 3, 4, 3]]], np.float32)
got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
