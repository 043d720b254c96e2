"""Finding 102: ConstantOfShape without value gives doubles. Exit code 1 where it shows, else 0."""

import sys
import tempfile

import numpy as np
import onnx.parser
import tract

model = onnx.parser.parse_model("""<ir_version: 4, opset_import: ["": 9]>
g () => (float[2] y) <int64[1] s = {2}> { y = ConstantOfShape(s) }""")
with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
    onnx.save(model, file.name)
    runnable = tract.onnx().load(file.name).into_model().into_runnable()
got = runnable.run([])[0].to_numpy()
right = np.zeros(2, np.float32)
print("got  ", got.dtype, got.tolist())
print("right", right.dtype, right.tolist())
sys.exit(int(got.dtype != right.dtype))
