"""Finding 095: a cast to float16 rounds its output, and not what MatMul reads. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (float[1, 2] x, float16[2, 1] w) => (float16[1, 1] y, float16[1, 2] h) { h = Cast <to = 10> (x) y = MatMul(h, w) }""")
options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
session = onnxruntime.InferenceSession(model.SerializeToString(), options)
feeds = {"x": np.array([[1 + 2**-12, 1]], np.float32), "w": np.array([[1], [-1]], np.float16)}
y, h = session.run(None, feeds)
print("got  ", y[0, 0], "for the product of", h[0], "and [1, -1]")
print("right", 0.0)
sys.exit(int(y[0, 0] != 0))
