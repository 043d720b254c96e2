"""Finding 096: int64 is kept in 32 bits. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import openvino

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (int64[1] a, int64[1] b) => (int64[2] y) { y = Concat <axis = 0> (a, b) }""")
core = openvino.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
got = compiled([np.array([2147483650]), np.array([1])])[0]
right = np.array([2147483650, 1])
print("got  ", got.tolist())
print("right", right.tolist())
sys.exit(int(not np.array_equal(got, right)))
