"""Flattens a model: inlines the branches that a tapped run took into the main graph, and makes every value an output.

ONNX Runtime exposes only outputs of the main graph, so flattening makes each of its nodes observable. A body that ran
more than once and a function cannot be inlined; both are refused by name.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import onnx
from onnx import helper

from conformance.suites.models import replace


class FlattenError(Exception):
    """Construct that cannot be inlined, with its place."""


@dataclass
class Flat:
    model: onnx.ModelProto
    outputs: dict[str, str]  # the model's outputs, in order -> name of the value in the flat model
    places: list[tuple[str, int]]  # path and position of each node in the tapped model
    inlined: int  # number of inlined bodies


@dataclass
class Taps:
    """Contents of taps.json: the places that ran, and the file of each value that a node wrote."""

    folder: Path
    files: dict[tuple[str, int], list[str]] = field(default_factory=dict)  # files of outputs, in order
    paths: set[str] = field(default_factory=set)

    @staticmethod
    def read(folder: Path) -> Taps:
        taps = Taps(folder)
        for node in json.loads((folder / "taps.json").read_text(encoding="utf-8"))["nodes"]:
            path = node["path"]
            taps.files[path, node["index"]] = [output["file"] for output in node["outputs"]]
            parts = path.split("/") if path else []
            taps.paths.update("/".join(parts[: k + 1]) for k in range(len(parts)))
        return taps


class _Flattener:
    def __init__(self, taps: Taps):
        self.taps = taps
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.places: list[tuple[str, int]] = []
        self.inlined = 0

    def lay(self, graph: onnx.GraphProto, path: str, outer: dict[str, str]) -> dict[str, str]:
        """Appends the graph's nodes. Returns the names that it defines or uses -> their names in the flat model."""
        scope = dict(outer)

        def own(name: str) -> str:
            scope[name] = f"{path}/{name}" if path else name
            return scope[name]

        for initializer in graph.initializer:
            copy = onnx.TensorProto()
            copy.CopyFrom(initializer)
            copy.name = own(initializer.name)
            self.initializers.append(copy)
        for index, node in enumerate(graph.node):
            if any(bodies(attribute) for attribute in node.attribute):
                self.lay_body(node, index, path, scope)
                continue
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            replace(copy.input, [scope[name] if name else "" for name in node.input])
            replace(copy.output, [own(name) if name else "" for name in node.output])
            self.nodes.append(copy)
            self.places.append((path, index))
        return scope

    def lay_body(self, node: onnx.NodeProto, index: int, path: str, scope: dict[str, str]) -> None:
        place = f"{path}/{node.op_type}_{index}" if path else f"{node.op_type}_{index}"
        graphs = {attribute.name: attribute.g for attribute in node.attribute if bodies(attribute)}
        if any(seen.startswith(tuple(f"{place}/{name}#" for name in graphs)) for seen in self.taps.paths):
            raise FlattenError(f"{place}: a body that runs more than once cannot be laid flat")
        taken = [name for name in graphs if f"{place}/{name}" in self.taps.paths]
        # A branch without nodes leaves no tap: it was taken if the others left none.
        taken = taken or [name for name, graph in graphs.items() if not graph.node]
        if len(taken) != 1:
            raise FlattenError(f"{place}: the taps do not say which of {', '.join(graphs)} ran")
        body = graphs[taken[0]]
        inside = self.lay(body, f"{place}/{taken[0]}", scope)
        for name, value in zip(node.output, body.output, strict=False):
            scope[name] = inside[value.name]
        self.inlined += 1


def bodies(attribute: onnx.AttributeProto) -> list[onnx.GraphProto]:
    if attribute.type == onnx.AttributeProto.GRAPH:
        return [attribute.g]
    return list(attribute.graphs)


def flatten(model: onnx.ModelProto, taps: Taps) -> Flat:
    if model.functions:
        raise FlattenError(f"the function {model.functions[0].name}: functions cannot be laid flat")
    graph = model.graph
    flattener = _Flattener(taps)
    scope = flattener.lay(graph, "", {value.name: value.name for value in graph.input})
    types = {
        name: element_type(taps.folder / file)
        for node, place in zip(flattener.nodes, flattener.places, strict=True)
        for name, file in zip(node.output, taps.files[place], strict=True)
        if name
    }
    flat = onnx.ModelProto(ir_version=model.ir_version)
    flat.opset_import.extend(model.opset_import)
    outputs = [helper.make_tensor_value_info(name, element, None) for name, element in types.items()]
    flat.graph.CopyFrom(
        helper.make_graph(flattener.nodes, "flat", list(graph.input), outputs, initializer=flattener.initializers)
    )
    kept = {value.name: scope[value.name] for value in graph.output}
    for name, value in kept.items():
        if value not in types:
            raise FlattenError(f"output '{name}' is not computed by any node")
    return Flat(flat, kept, flattener.places, flattener.inlined)


def element_type(file: Path) -> int:
    """Returns the type of a tensor on disk, without keeping its data."""
    return onnx.load_tensor(str(file)).data_type
