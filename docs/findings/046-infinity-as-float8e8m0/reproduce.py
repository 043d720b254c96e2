"""Finding 046: Cast of infinity to float8e8m0 gives NaN. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 24]>
g (float[2] X) => (float8e8m0[2] Y) { Y = Cast <to = 24> (X) }""")
feeds = {"X": np.array([np.inf, 1], np.float32)}
right = np.array([2.0**127, 1], np.float32)
got = ReferenceEvaluator(model).run(None, feeds)[0].astype(np.float32)
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if np.array_equal(got, right) else 1)
