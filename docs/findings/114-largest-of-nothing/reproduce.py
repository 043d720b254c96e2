"""Finding 114: ReduceMax of nothing is the lowest finite float. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import openvino

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 20]>
g (float[0] x) => (float[1] y) { y = ReduceMax (x) }""")
core = openvino.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
got = compiled([np.zeros(0, np.float32)])[0]
right = np.array([-np.inf], np.float32)
print("got  ", got.shape, got.tolist())
print("right", right.shape, right.tolist())
sys.exit(int(not np.array_equal(got, right)))
