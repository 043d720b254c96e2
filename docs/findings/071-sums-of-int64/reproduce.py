"""Finding 071: Sums of int64 go through double. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (int64[2] X) => (int64 Y) { Y = ReduceSum <keepdims = 0> (X) }""")
feeds = {"X": np.array([2**53 + 1, 2])}
right = np.array(2**53 + 3)
got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
