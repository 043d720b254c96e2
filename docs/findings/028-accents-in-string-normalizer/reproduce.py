"""Finding 028: StringNormalizer removes accents. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 10]>
g (string[1] X) => (string[1] Y) { Y = StringNormalizer (X) }""")
feeds = {"X": np.array(["caf\u00e9"], object)}
right = np.array(["caf\u00e9"], object)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.tolist() == right.tolist() else 1)
