"""Finding 100: Softmax of opset 11 normalises one axis. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import openvino

model = onnx.parser.parse_model("""<ir_version: 6, opset_import: ["": 11]>
g (float[1, 2, 2] x) => (float[1, 2, 2] y) { y = Softmax(x) }""")
core = openvino.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
got = compiled([np.zeros((1, 2, 2), np.float32)])[0]
right = np.full((1, 2, 2), 0.25, np.float32)
print("got  ", got.tolist())
print("right", right.tolist())
sys.exit(int(not np.array_equal(got, right)))
