"""Finding 097: doubles are kept as floats. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import openvino

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (double[1] a, double[1] b) => (bool[1] y) { y = Greater(a, b) }""")
core = openvino.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
got = compiled([np.array([1 + 2.0**-40]), np.array([1.0])])[0]
right = np.array([True])
print("got  ", got.tolist())
print("right", right.tolist())
sys.exit(int(not np.array_equal(got, right)))
