"""Finding 065: SplitToSequence by the scalar 1 drops the dimension. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 11]>
g (float[2] x, int64 s) => (seq(float[N]) y) { y = SplitToSequence <keepdims = 0> (x, s) }""")
feeds = {"x": np.array([1, 2], np.float32), "s": np.array(1)}
right = [np.array([1], np.float32), np.array([2], np.float32)]
got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
print("got  ", [each.shape for each in got])
print("right", [each.shape for each in right])
sys.exit(0 if [each.shape for each in got] == [each.shape for each in right] else 1)
