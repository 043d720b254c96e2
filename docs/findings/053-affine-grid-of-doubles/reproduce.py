"""Finding 053: AffineGrid of doubles gives floats. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 20]>
g (double[1, 2, 3] T, int64[4] S) => (double[1, 1, 2, 2] G) { G = AffineGrid (T, S) }""")
feeds = {"T": np.array([[[1 / 3, 0, 0], [0, 1, 0]]]), "S": np.array([1, 1, 1, 2])}
right = np.array([[[[-1 / 6, 0], [1 / 6, 0]]]])
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.allclose(got, right, rtol=1e-14, atol=0) else 1)
