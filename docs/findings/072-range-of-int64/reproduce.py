"""Finding 072: Range of int64 counts its elements in double. Exit code 1 where the fault shows, else 0."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (int64 start, int64 limit, int64 delta) => (int64[N] Y) { Y = Range (start, limit, delta) }""")
feeds = {"start": np.array(2**53 + 1), "limit": np.array(2**53 + 3), "delta": np.array(1)}
right = np.array([2**53 + 1, 2**53 + 2])
got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
