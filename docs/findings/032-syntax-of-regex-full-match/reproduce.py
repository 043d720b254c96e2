"""Finding 032: RegexFullMatch reads Python's syntax. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 20]>
g (string[1] X) => (bool[1] Y) { Y = RegexFullMatch <pattern = "[[:alpha:]]+"> (X) }""")
feeds = {"X": np.array(["abc"], object)}
right = np.array([True])
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
