"""Finding 105: the momentum of BatchNormalization weighs new statistics. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
g (float[2, 1] x) => (float[2, 1] y, float[1] m, float[1] v) <float[1] s = {1}, float[1] b = {0}, float[1] w = {10}>
{ y, m, v = BatchNormalization <training_mode = 1> (x, s, b, w, s) }""")
machine = relax.VirtualMachine(tvm.compile(from_onnx(model), "llvm"), tvm.cpu())
got = machine["main"](tvm.runtime.tensor(np.array([[1], [3]], np.float32)))[1].numpy()
right = np.array([9.2], np.float32)
print("got  ", got.tolist())
print("right", right.tolist())
sys.exit(int(not np.allclose(got, right)))
