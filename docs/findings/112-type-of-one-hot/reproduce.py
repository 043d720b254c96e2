"""Finding 112: OneHot of floats gives doubles. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (int64[1] x) => (float[1, 3] y) <int64 depth = {3}, float[2] values = {0, 1}> { y = OneHot (x, depth, values) }""")
machine = relax.VirtualMachine(tvm.compile(from_onnx(model), "llvm"), tvm.cpu())
got = machine["main"](tvm.runtime.tensor(np.array([1]))).numpy()
right = np.array([[0, 1, 0]], np.float32)
print("got  ", got.dtype, got.tolist())
print("right", right.dtype, right.tolist())
sys.exit(int(got.dtype != right.dtype))
