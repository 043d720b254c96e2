"""Finding 066: TreeEnsemble exchanges softmax and logistic. Exit code 1 where it shows, else 0."""

import sys

import numpy as np
import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["ai.onnx.ml": 5]>
g (float[1, 1] X) => (float[1, 2] Y) { Y = ai.onnx.ml.TreeEnsemble <nodes_featureids = [0], nodes_splits = float[1] {2},
  nodes_modes = uint8[1] {0}, nodes_truenodeids = [0], nodes_falsenodeids = [1], nodes_trueleafs = [1], \
nodes_falseleafs = [1],
  leaf_targetids = [0, 1], leaf_weights = float[2] {1, 2}, n_targets = 2, tree_roots = [0], \
post_transform = 2> (X) }""")
feeds = {"X": np.ones((1, 1), np.float32)}
right = np.array([[0.7310586, 0.5]], np.float32)
got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
print("got  ", got.shape, got.tolist())
print("right", right.shape, right.tolist())
sys.exit(0 if got[0, 1] == 0.5 else 1)
