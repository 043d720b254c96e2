"""Evaluates one node: checks its inputs and attributes against the signature, then runs the definition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import onnx

from codegen.entry import Version
from tests.independent import elements, entries, signature
from tests.independent.refusal import LeftOut, Refusal
from tests.independent.tensors import ABSENT, Tensor

MAX_POINTS = 400_000  # upper bound of the points that one node may define


class Call:
    """A call of an operator version; translated definitions (program.py) and structural operators read it."""

    def __init__(self, version: Version, node: onnx.NodeProto, values: list[Any], graph: Any):
        self.version, self.node, self.graph = version, node, graph
        signature.check_count(version, version.inputs, list(node.input), "input")
        signature.check_count(version, version.outputs, list(node.output), "output")
        self.said = signature.check_attributes(version, list(node.attribute))
        self.attributes = signature.with_defaults(version, self.said)
        self.types = signature.bind_types(version, values)
        self.inputs = signature.checked_inputs(version, values)
        self.elements = {name: elements.of_type(type_) for name, type_ in self.types.items()}
        self.elements |= {name: elements.of_type(name) for name in elements.formats.FORMATS}
        if version.deprecated and not version.lived:
            raise Refusal(f"{version.name} is deprecated", "model/deprecated")
        self.points = 0

    def with_distinct_names(self) -> None:
        """Renames an input that has an attribute's name to in_NAME, as the notation does."""
        self.inputs = {f"in_{n}" if self.version.attribute(n) else n: v for n, v in self.inputs.items()}

    def tensor(self, name: str) -> Any:
        value = self.inputs[name]
        return ABSENT if value is None else value

    def attribute(self, name: str) -> Any:
        """The attribute's value; zero, "" or an empty list if neither the node nor the signature sets it."""
        value = self.attributes.get(name)
        if value is None:
            kind = self.version.attribute(name).kind
            return {"int": 0, "float": 0, "string": "", "ints": (), "floats": (), "strings": ()}.get(kind)
        return value

    def given(self, name: str) -> bool:
        if self.version.attribute(name):
            return name in self.said
        return self.inputs[name] is not None

    def place(self, output: str) -> int:
        names = [p.name for p in self.version.outputs]
        return names.index(output.removeprefix("out_") if output not in names else output)

    def wanted(self, output: str) -> bool:
        k = self.place(output)
        return k < len(self.node.output) and self.node.output[k] != ""

    def count(self, output: str) -> int:
        return len(self.node.output) - self.place(output)

    def bind(self, constraint: str, type_: str) -> None:
        if constraint in self.version.types:
            if type_ not in self.version.types[constraint]:
                raise Refusal(f"{self.version.name}: {constraint} cannot be {type_}", "model/type")
            self.types[constraint] = type_
            self.elements[constraint] = elements.of_type(type_)

    def type_of(self, name: str) -> str:
        type_ = self.types.get(name, name)
        if type_ not in elements.formats.FORMATS:
            raise Refusal(f"{self.version.name}: the type of {name} is not known")
        return type_

    def require(self, identity: str, that: Callable[[], bool]) -> None:
        if not that():
            raise Refusal(f"{self.version.name} does not allow this", f"{self.version.name}/{identity}")

    def work(self, points: int) -> None:
        self.points += points
        if self.points > MAX_POINTS:
            raise LeftOut(f"size: over {MAX_POINTS} elements to define")

    def through(self, graph: str, tensor: Tensor, type_: str) -> Tensor:
        """A buffer passed through the node's graph attribute; unchanged if the attribute is absent."""
        body = self.attributes.get(graph)
        if body is None:
            return tensor
        rounded = Tensor(type_, tensor.shape, [elements.formats.fit(type_, v) for v in tensor.flat()])
        (made,) = self.graph.body(body, [rounded])
        return Tensor(tensor.type, made.shape, made.flat())


def run_node(node: onnx.NodeProto, opset: int, values: list[Any], graph: Any) -> list[Any]:
    """Returns the outputs in the order of the node's names."""
    version = entries.version_at(node.domain, node.op_type, opset)
    call = Call(version, node, values, graph)
    if version.kind == "semantics":
        call.with_distinct_names()
        made = entries.program(version.domain, version.op, version.since).evaluate(call)
        found = list(made.values())
    elif version.kind in ("structural", "random"):
        from tests.independent import structural

        found = structural.run(call)
    else:
        raise LeftOut(f"kind: {version.kind} {version.op}")
    outputs: list[Any] = []
    for k, p in enumerate(version.outputs):
        outputs += found[k] if p.variadic else [found[k]] if k < len(found) else [None]
    return outputs[: len(node.output)]
