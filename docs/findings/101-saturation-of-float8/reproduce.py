"""Finding 101: Cast to float8 does not saturate. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import openvino

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 19]>
g (float[3] x) => (float8e4m3fn[3] y) { y = Cast <to = 17> (x) }""")
core = openvino.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
got = compiled([np.array([1000, -1000, np.inf], np.float32)])[0]
right = np.array([126, 254, 126], np.uint8)
print("got  ", got.tolist())
print("right", right.tolist())
sys.exit(int(not np.array_equal(got, right)))
