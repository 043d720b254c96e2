"""A numpy runtime for models of one node: target `python:tests.faithful.target:Faithful:sum=pairwise:libm=glibc`.

It is independent of this project's definitions and kernels. The model may set options that the target's name leaves
open, in a metadata property `faithful` of the same syntax. It refuses every operator that it does not implement, so it
runs on any suite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper

from tests.faithful.arithmetic import NARROW, Arithmetic, Variant
from tests.faithful.operators import contract, elementwise, moves, normalise, quantise, recurrent, reduce, resample
from tests.faithful.registry import OPERATORS, Computed, Node

ROOMS = (contract, elementwise, moves, normalise, quantise, recurrent, reduce, resample)
PROPERTY = "faithful"
FLOATS = (np.dtype(np.float32), np.dtype(np.float64), *NARROW)


class NotDoneError(Exception):
    """Raised for a node that these variants do not implement."""

    touchstone_fault = "unsupported"


@dataclass
class Loaded:
    node: Node
    computed: Computed
    variant: Variant
    inputs: list[str]
    outputs: list[str]
    held: dict[str, np.ndarray]


def said_of(model: onnx.ModelProto, options: dict[str, str]) -> dict[str, str]:
    words = [each.value.split() for each in model.metadata_props if each.key == PROPERTY]
    return dict(word.split("=", 1) for line in words for word in line) | options


def node_of(proto: onnx.NodeProto, opset: int) -> Node:
    schema = onnx.defs.get_schema(proto.op_type, opset, "")
    attributes = {
        name: helper.get_attribute_value(attribute.default_value)
        for name, attribute in schema.attributes.items()
        if attribute.default_value.type
    }
    attributes |= {each.name: helper.get_attribute_value(each) for each in proto.attribute}
    attributes = {key: value.decode() if isinstance(value, bytes) else value for key, value in attributes.items()}
    return Node(proto.op_type, schema.since_version, attributes, len(proto.output))


class Faithful:
    version = np.__version__

    def load(self, model: bytes, options: dict[str, str]) -> Loaded:
        proto = onnx.ModelProto.FromString(model)
        if len(proto.graph.node) != 1 or proto.graph.node[0].domain or proto.functions:
            raise NotDoneError("not one node of the standard's own domain")
        one = proto.graph.node[0]
        computed = OPERATORS.get(one.op_type)
        if computed is None:
            raise NotDoneError(f"no {one.op_type}")
        variant = Variant.of(said_of(proto, options))
        if variant.form and variant.form not in computed.forms:
            raise NotDoneError(f"{one.op_type} has no form {variant.form}")
        opset = next(each.version for each in proto.opset_import if not each.domain)
        held = {each.name: onnx.numpy_helper.to_array(each) for each in proto.graph.initializer}
        return Loaded(node_of(one, opset), computed, variant, list(one.input), list(one.output), held)

    def run(self, loaded: Loaded, feeds: dict[str, Any]) -> dict[str, Any]:
        known = loaded.held | feeds
        inputs = [known[name] if name else None for name in loaded.inputs]
        element = next((each.dtype for each in inputs if each is not None and each.dtype in FLOATS), np.float32)
        with np.errstate(all="ignore"):
            made = loaded.computed.run(Arithmetic(loaded.variant, element), loaded.node, *inputs)
        made = made if isinstance(made, tuple) else (made,)
        return dict(zip(loaded.outputs, made, strict=True))


class Careless(Faithful):
    """Multiplies faithful results by 1 + 2^-12; a judge that accepts this would accept anything."""

    def run(self, loaded: Loaded, feeds: dict[str, Any]) -> dict[str, Any]:
        made = super().run(loaded, feeds)
        return {name: (x * (1 + 2.0**-12)).astype(x.dtype) if x.dtype in FLOATS else x for name, x in made.items()}
