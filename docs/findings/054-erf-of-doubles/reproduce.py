"""Finding 054: Erf of double has float32 accuracy. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (double[1] X) => (double[1] Y) { Y = Erf (X) }""")
feeds = {"X": np.array([0.5])}
right = np.array([0.5204998778130465])
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.allclose(got, right, rtol=1e-14, atol=0) else 1)
