"""Target with one injected fault at a chosen node; otherwise it is the evaluator of the onnx package.

python:conformance.compare.bad_targets:Faulty:node=n50:when=always

`node` is the node with the wrong result: every second element is off by a thousandth, or by the relative error `by`.

Values of `when`:
- always
- single: only if the graph has a single output
- hidden: only if the node's first input is no graph output, as if a runtime fused the two nodes
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator


def spoil(model: onnx.ModelProto, node: onnx.NodeProto, by: float) -> None:
    """Multiplies the node's result by factors that differ from 1 in every second element."""
    name = node.output[0]
    inferred = shape_inference.infer_shapes(model).graph
    infos = {each.name: each for each in (*inferred.value_info, *inferred.output)}
    last = infos[name].type.tensor_type.shape.dim[-1].dim_value
    factor = np.float32(1 + by * (np.arange(last) % 2))
    model.graph.initializer.append(numpy_helper.from_array(factor, name + "_factor"))
    node.output[0] = name + "_right"
    position = list(model.graph.node).index(node) + 1
    model.graph.node.insert(position, helper.make_node("Mul", [name + "_right", name + "_factor"], [name]))


class Faulty:
    version = "0"

    def load(self, model: bytes, options: dict[str, str]) -> ReferenceEvaluator:
        proto = onnx.ModelProto.FromString(model)
        (node,) = (each for each in proto.graph.node if each.name == options["node"])
        shown = {each.name for each in proto.graph.output}
        wrong = {"always": True, "single": len(shown) == 1, "hidden": node.input[0] not in shown}
        if wrong[options["when"]]:
            spoil(proto, node, float(options.get("by", 1e-3)))
        return ReferenceEvaluator(proto)

    def run(self, loaded: ReferenceEvaluator, feeds: dict[str, Any]) -> dict[str, Any]:
        return dict(zip(loaded.output_names, loaded.run(None, feeds), strict=True))
