"""Finding 075: Add before version 7 ignores its axis. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 6]>
g (float[1, 2, 1] A, float[2] B) => (float[1, 2, 1] C) { C = Add <broadcast = 1, axis = 1> (A, B) }""")
feeds = {"A": np.array([[[1], [2]]], np.float32), "B": np.array([10, 20], np.float32)}
right = np.array([[[11], [22]]], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
