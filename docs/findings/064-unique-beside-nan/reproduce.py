"""Finding 064: Unique drops numbers beside NaN. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 11]>
g (float[4] x) => (float[N] y) { y = Unique (x) }""")
feeds = {"x": np.array([np.nan, 1, np.nan, 0], np.float32)}
right = np.array([0, 1, np.nan], np.float32)
got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
print("got  ", got.shape, got.tolist())
print("right", right.shape, right.tolist())
sys.exit(0 if {0, 1} <= set(got.tolist()) else 1)
