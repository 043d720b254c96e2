"""Finding 108: RNN applies tanh, whatever its activations are. Exit code 1 where it shows, else 0."""

import sys
import tempfile

import numpy as np
import onnx.parser
import tract

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 14]>
g (float[1, 1, 1] X) => (float[1, 1, 1, 1] Y) <float[1, 1, 1] W = {1}, float[1, 1, 1] R = {0}>
{ Y = RNN <hidden_size = 1, activations = ["Relu"]> (X, W, R) }""")
with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
    onnx.save(model, file.name)
    runnable = tract.onnx().load(file.name).into_model().into_runnable()
got = runnable.run([np.array([[[2]]], np.float32)])[0].to_numpy()
right = np.full((1, 1, 1, 1), 2, np.float32)
print("got  ", got.tolist())
print("right", right.tolist())
sys.exit(int(not np.allclose(got, right)))
