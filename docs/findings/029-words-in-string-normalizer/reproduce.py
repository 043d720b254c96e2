"""Finding 029: StringNormalizer removes words from inside of elements. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 10]>
g (string[2] X) => (string[n] Y) { Y = StringNormalizer <stopwords = ["monday"], is_case_sensitive = 1> (X) }""")
feeds = {"X": np.array(["a monday b", "monday"], object)}
right = np.array(["a monday b"], object)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.tolist() == right.tolist() else 1)
