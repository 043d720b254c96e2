"""Finding 110: the mask of Dropout is of floats. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g (float[2] x) => (float[2] y, bool[2] mask) { y, mask = Dropout (x) }""")
machine = relax.VirtualMachine(tvm.compile(from_onnx(model), "llvm"), tvm.cpu())
got = machine["main"](tvm.runtime.tensor(np.array([1, 2], np.float32)))[1].numpy()
right = np.array([True, True])
print("got  ", got.dtype, got.tolist())
print("right", right.dtype, right.tolist())
sys.exit(int(got.dtype != right.dtype))
