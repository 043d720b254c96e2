"""Finding 086: Squeeze reads an empty list of axes as no list. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (float[1, 2, 1] X, int64[0] A) => (float[1, 2, 1] Y) { Y = Squeeze (X, A) }""")
feeds = {"X": np.ones((1, 2, 1), np.float32), "A": np.zeros(0, np.int64)}
right = np.ones((1, 2, 1), np.float32)
got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
