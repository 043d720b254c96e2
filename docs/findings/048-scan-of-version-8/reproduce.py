"""Finding 048: Scan of version 8 is run as version 9. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 3, opset_import: ["": 8]>
g (float[1] S, float[1, 3] X) => (float[1] F) {
  F = Scan <num_scan_inputs = 1, body = b (float s, float x) => (float t) { t = Add (s, x) }> ("", S, X) }""")
feeds = {"S": np.zeros(1, np.float32), "X": np.array([[1, 2, 3]], np.float32)}
right = np.array([6], np.float32)
try:
    got = ReferenceEvaluator(model).run(None, feeds)[0]
except Exception as error:
    got = np.array(" ".join(str(error).split())[:200])
print("got  ", got)
print("right", right)
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
