"""Finding 113: a one-sided DFT gains a dimension. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import openvino

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 20]>
g (float[1, 4, 1] x) => (float[1, 3, 2] y) <int64 n = {4}, int64 axis = {1}> { y = DFT <onesided = 1> (x, n, axis) }""")
core = openvino.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
got = compiled([np.array([1, 2, 3, 4], np.float32).reshape(1, 4, 1)])[0]
right = np.array([[[10, 0], [-2, 2], [-2, 0]]], np.float32)
print("got  ", got.shape, got.tolist())
print("right", right.shape, right.tolist())
sys.exit(int(got.shape != right.shape))
