"""Finding 049: Attention refuses a mask that is shorter than the keys. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 24]>
g (float[1,1,1,1] Q, float[1,1,3,1] K, float[1,1,3,1] V, bool[1,2] M) => (float[a,b,c,d] Y) {Y=Attention(Q,K,V,M)}""")
feeds = {"Q": np.zeros((1, 1, 1, 1)), "K": np.ones((1, 1, 3, 1)), "V": np.array([1, 3, 9]).reshape(1, 1, 3, 1)}
right = np.array([[[[2]]]], np.float32)
feeds = {name: x.astype(np.float32) for name, x in feeds.items()} | {"M": np.ones((1, 2), bool)}
try:
    got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
except Exception as error:
    got = np.array(" ".join(str(error).split())[:200])
print("got  ", got)
print("right", right)
sys.exit(0 if got.dtype == right.dtype and np.array_equal(got, right) else 1)
