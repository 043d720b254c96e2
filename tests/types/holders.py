"""Nodes with a graph attribute whose graph returns its input, so that a type is tested in that node alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from onnx import helper

from codegen.case_values import Literal, Optional, Sequence, Tensor, inside
from codegen.emit_cases import value_bytes
from tests.types.variants import Wanted, converted

Asked = tuple[onnx.ModelProto, list[bytes]]


def some(type_: str) -> Literal:
    """A value of any tensor, sequence or optional type."""
    if (inner := inside(type_, "seq")) is not None:
        return Sequence([some(inner)], type_)
    if (inner := inside(type_, "optional")) is not None:
        return Optional(some(inner), type_)
    return Tensor(converted(np.ones((2, 3)), type_), type_)


def info(name: str, type_: onnx.TypeProto) -> onnx.ValueInfoProto:
    bare = onnx.TypeProto.FromString(type_.SerializeToString())
    if bare.HasField("tensor_type"):
        bare.tensor_type.ClearField("shape")
    return helper.make_value_info(name, bare)


def handing_on(wanted: Wanted, opset: int, ir: int) -> Iterator[Asked]:
    """Models for an operator with a graph attribute; none for other operators."""
    op = wanted.version.op
    if wanted.variable != "V" or not any(a.kind == "graph" for a in wanted.version.attributes):
        return
    value = some(wanted.type)
    x, y, inner = (info(name, value.type_proto()) for name in ("x", "y", "inner"))
    truth, turn = info("c", some("bool").type_proto()), info("k", some("int64").type_proto())
    twice: dict[str, Literal] = {"M": Tensor(np.array(2), "int64"), "x": value}
    turns = helper.make_node(
        "Loop", ["M", "", "x"], ["y"], body=helper.make_graph([], "body", [turn, truth, inner], [truth, inner])
    )
    if op == "Loop":
        feeds, node = twice, turns
    elif op == "If":  # a branch must produce its output, and only Loop passes on as many types
        feeds = {"if": Tensor(np.array(True), "bool"), **twice}
        branches = {f"{name}_branch": helper.make_graph([turns], name, [], [y]) for name in ("then", "else")}
        node = helper.make_node(op, ["if"], ["out"], **branches)
        y = info("out", value.type_proto())
    elif op == "Scan" and wanted.version.since == 8:  # the first input is the sequence lengths
        feeds = {"x": value}
        node = helper.make_node(
            op, ["", "x"], ["y"], num_scan_inputs=1, body=helper.make_graph([], "body", [inner], [inner])
        )
    elif op == "SequenceMap":
        item = inside(wanted.type, "seq") or wanted.type
        feeds = {"x": some(f"seq({item})")}
        x, y = (info(name, feeds["x"].type_proto()) for name in ("x", "y"))
        inner = info("inner", some(item).type_proto())
        node = helper.make_node(op, ["x"], ["y"], body=helper.make_graph([], "body", [inner], [inner]))
    else:
        return
    inputs = [info(name, each.type_proto()) for name, each in feeds.items()]
    graph = helper.make_graph([node], "holder", inputs, [y])
    imports = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=max(ir, 8) if "optional" in wanted.type else ir)
    yield model, [value_bytes(name, each) for name, each in feeds.items()]
