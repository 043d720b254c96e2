"""Finding 077: NonZero of a scalar has a row. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (float X) => (int64[M, N] Y) { Y = NonZero (X) }""")
feeds = {"X": np.array(5, np.float32)}
right = np.zeros((0, 1), np.int64)
got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
