"""Finding 012: GlobalMaxPool supports images only. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (float[1, 2, 2] X) => (float[1, 2, 1] Y) { Y = GlobalMaxPool (X) }""")
feeds = {"X": np.array([[[1, 2], [3, 4]]], np.float32)}
right = np.array([[[2], [4]]], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
