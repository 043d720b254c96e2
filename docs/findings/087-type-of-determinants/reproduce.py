"""Finding 087: Det of bfloat16 is a double. Exit code 1 where the fault shows, 0 where it is mended."""

import sys

import numpy as np
import onnx.parser
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 22]>
g (bfloat16[2, 2] X) => (bfloat16 Y) { Y = Det (X) }""")
feeds = {"X": np.diag([1, 2]).astype(helper.tensor_dtype_to_np_dtype(TensorProto.BFLOAT16))}
right = np.array(2, feeds["X"].dtype)
got = ReferenceEvaluator(model).run(None, feeds)[0]
print("got  ", got.dtype, got.shape, got.tolist())
print("right", right.dtype, right.shape, right.tolist())
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
