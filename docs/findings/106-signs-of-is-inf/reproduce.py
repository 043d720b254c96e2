"""Finding 106: IsInf finds infinities of both signs. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 20]>
g (float[2] x) => (bool[2] y) { y = IsInf <detect_positive = 0> (x) }""")
machine = relax.VirtualMachine(tvm.compile(from_onnx(model), "llvm"), tvm.cpu())
got = machine["main"](tvm.runtime.tensor(np.array([np.inf, -np.inf], np.float32))).numpy()
right = np.array([False, True])
print("got  ", got.tolist())
print("right", right.tolist())
sys.exit(int(not np.array_equal(got, right)))
