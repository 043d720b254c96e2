"""Finding 111: the mean that LayerNormalization gives is a scalar 0. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 17]>
g (float[2, 2] x) => (float[2, 2] y, float[2, 1] mean) <float[2] scale = {1, 1}>
{ y, mean = LayerNormalization (x, scale) }""")
machine = relax.VirtualMachine(tvm.compile(from_onnx(model), "llvm"), tvm.cpu())
got = machine["main"](tvm.runtime.tensor(np.array([[1, 3], [2, 6]], np.float32)))[1].numpy()
right = np.array([[2], [4]], np.float32)
print("got  ", got.dtype, got.tolist())
print("right", right.dtype, right.tolist())
sys.exit(int(not np.array_equal(got, right)))
