"""Finding 050: ConvInteger refuses a zero point for each channel. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 5, opset_import: ["": 10]>
g (uint8[1,1,1,1] X, uint8[2,1,1,1] W, uint8 Z, uint8[2] V) => (int32[1,2,1,1] Y) { Y = ConvInteger(X, W, Z, V) }""")
feeds = {"X": [[[[10]]]], "W": [[[[3]]], [[[5]]]], "Z": 0, "V": [1, 2]}
right = np.array([[[[20]], [[30]]]], np.int32)
feeds = {name: np.array(x, np.uint8) for name, x in feeds.items()}
try:
    got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
except Exception as error:
    got = np.array(" ".join(str(error).split())[:200])
print("got  ", got)
print("right", right)
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
