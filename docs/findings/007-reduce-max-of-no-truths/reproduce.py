"""Finding 007: ReduceMax of an empty bool tensor is refused. Exit code 1 where it shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 20]>
g (bool[0, 2] X, int64[1] A) => (bool[2] R) { R = ReduceMax <keepdims = 0> (X, A) }""")
feeds = {"X": np.zeros((0, 2), bool), "A": np.array([0])}
right = np.array([False, False])
try:
    got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
except Exception as error:
    got = np.array(" ".join(str(error).split()))
print("got  ", got)
print("right", right)
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
