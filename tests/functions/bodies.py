"""Models whose one node calls the function body that the standard gives for an operator version, as a model-local
function.

A body may depend on the node and on the types of its inputs, so it is requested with those of a literal case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import onnx
import onnx.defs
from onnx import helper

from codegen.emit_cases import Case

DOMAIN = "body"
IR_OF_FUNCTIONS = 10


@dataclass(frozen=True)
class Body:
    """A case, and its model rewritten to call the function body for one opset."""

    case: Case
    opset: int
    model: onnx.ModelProto

    @property
    def name(self) -> str:
        return f"{self.case.version.name}/{self.case.name}@{self.opset}"


def bodies(cases: list[Case]) -> Iterator[Body]:
    schemas = {(s.domain, s.name, s.since_version): s for s in onnx.defs.get_all_schemas_with_history()}
    for case in cases:
        domain = "" if case.version.domain == "ai.onnx" else case.version.domain
        schema = schemas.get((domain, case.version.op, case.version.since))
        if schema is None:
            continue
        opsets = {*schema.function_opset_versions, *schema.context_dependent_function_opset_versions}
        for opset in sorted(opsets):
            function = function_of(schema, case, opset)
            if function is not None and function.node:
                yield Body(case, opset, calling(schema, case, function, opset))


def function_of(schema: onnx.defs.OpSchema, case: Case, opset: int) -> onnx.FunctionProto | None:
    if opset in schema.function_opset_versions:
        text = schema.get_function_with_opset_version(opset)
    else:
        node = case.model.graph.node[0]
        types = {info.name: info.type for info in case.model.graph.input}
        given = [types.get(name, onnx.TypeProto()).SerializeToString() for name in node.input]
        try:
            text = schema.get_context_dependent_function_with_opset_version(opset, node.SerializeToString(), given)
        except RuntimeError:  # the standard has no body for such a node
            return None
    return onnx.FunctionProto.FromString(text)


def calling(schema: onnx.defs.OpSchema, case: Case, function: onnx.FunctionProto, opset: int) -> onnx.ModelProto:
    """The case's model with its node replaced by a call; attributes left at a default become explicit."""
    function.domain = DOMAIN
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    model.ir_version = max(model.ir_version, IR_OF_FUNCTIONS)
    node = model.graph.node[0]
    node.domain, node.op_type = DOMAIN, function.name
    # A body may omit an output that the node does not use; a model-local function may not.
    made = {name for each in function.node for name in each.output}
    ports = list(zip(function.output, [*node.output, *[""] * len(function.output)], strict=False))
    kept = [(inner, port) for inner, port in ports if port or inner in made]
    del function.output[:], node.output[:]
    function.output.extend(inner for inner, _ in kept)
    node.output.extend(port for _, port in kept)
    said = {attribute.name for attribute in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in said and attribute.default_value.type and name in function.attribute:
            node.attribute.append(attribute.default_value)
    # A body that depends on the node already holds the attributes that it needs, such as a graph.
    kept_attributes = [each for each in node.attribute if each.name in references(function.node)]
    del node.attribute[:]
    node.attribute.extend(kept_attributes)
    given = [attribute.name for attribute in node.attribute]
    del function.attribute[:]
    function.attribute.extend(given)
    drop_references(function.node, set(given))
    imports = {opset_of.domain: opset_of.version for opset_of in function.opset_import}
    imports.setdefault("", onnx.defs.onnx_opset_version() if schema.domain else opset)
    del model.opset_import[:], function.opset_import[:]
    for domain, version in imports.items():
        function.opset_import.append(helper.make_opsetid(domain, version))
    for domain, version in {**imports, DOMAIN: 1}.items():
        model.opset_import.append(helper.make_opsetid(domain, version))
    model.functions.append(function)
    return model


def references(nodes: Iterable[onnx.NodeProto]) -> set[str]:
    """The function's attributes that its nodes refer to."""
    attributes = [attribute for node in nodes for attribute in node.attribute]
    inner = [references(attribute.g.node) for attribute in attributes]
    return {attribute.ref_attr_name for attribute in attributes}.union(*inner)


def drop_references(nodes: Iterable[onnx.NodeProto], given: set[str]) -> None:
    """Removes references to attributes that the node omits and that have no default."""
    for node in nodes:
        kept = [a for a in node.attribute if not a.ref_attr_name or a.ref_attr_name in given]
        if len(kept) < len(node.attribute):
            del node.attribute[:]
            node.attribute.extend(kept)
        for attribute in node.attribute:
            drop_references(attribute.g.node, given)
