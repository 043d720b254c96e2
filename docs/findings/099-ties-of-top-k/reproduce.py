"""Finding 099: TopK returns the wrong one of equal elements. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import openvino

model = onnx.parser.parse_model("""<ir_version: 6, opset_import: ["": 11]>
g (float[4] x, int64[1] k) => (float[2] v, int64[2] i) { v, i = TopK(x, k) }""")
core = openvino.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
got = compiled([np.ones(4, np.float32), np.array([2])])[1]
right = np.array([0, 1])
print("got  ", got.tolist())
print("right", right.tolist())
sys.exit(int(not np.array_equal(got, right)))
