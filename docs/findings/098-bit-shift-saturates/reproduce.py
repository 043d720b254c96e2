"""Finding 098: BitShift to the left saturates. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import openvino

model = onnx.parser.parse_model("""<ir_version: 6, opset_import: ["": 11]>
g (uint8[2] x, uint8[2] s) => (uint8[2] y) { y = BitShift <direction = "LEFT"> (x, s) }""")
core = openvino.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
got = compiled([np.array([200, 255], np.uint8), np.array([1, 4], np.uint8)])[0]
right = np.array([144, 240], np.uint8)
print("got  ", got.tolist())
print("right", right.tolist())
sys.exit(int(not np.array_equal(got, right)))
