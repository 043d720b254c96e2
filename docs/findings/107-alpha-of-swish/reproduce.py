"""Finding 107: Swish is computed without alpha. Exit code 1 where it shows, else 0."""

import sys
import tempfile

import numpy as np
import onnx.parser
import tract

model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 24]>
g (float[1] x) => (float[1] y) { y = Swish <alpha = 2.0> (x) }""")
with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
    onnx.save(model, file.name)
    runnable = tract.onnx().load(file.name).into_model().into_runnable()
got = runnable.run([np.array([1], np.float32)])[0].to_numpy()
right = 1 / (1 + np.exp(np.array([-2], np.float32)))
print("got  ", got.tolist())
print("right", right.tolist())
sys.exit(int(not np.allclose(got, right)))
