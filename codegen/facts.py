"""Compares entries with onnx.defs of the pinned onnx, which is converted to the entries' own dataclasses.

The standard's own files are read only here; entries never copy a sentence from them.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from typing import Any

import onnx
from onnx import defs

from codegen.entry import MISSING, Attribute, Operator, Parameter, Version
from codegen.value_types import from_standard, in_order

_OPTION = defs.OpSchema.FormalParameterOption


def load_facts() -> list[Operator]:
    """Returns every operator of the standard, sorted by domain and name, versions newest first. `doc` stays empty."""
    by_operator: dict[tuple[str, str], list[Version]] = defaultdict(list)
    for schema in defs.get_all_schemas_with_history():
        version = _version(schema)
        by_operator[version.domain, version.op].append(version)
    operators = []
    for (domain, op), versions in sorted(by_operator.items()):
        versions.sort(key=lambda version: -version.since)
        operators.append(Operator(domain, op, "", "onnx.defs", versions))
    return operators


def load_prose() -> dict[tuple[str, str], list[str]]:
    """Returns the standard's texts of each operator, one per version, for comparison only."""
    prose: dict[tuple[str, str], list[str]] = defaultdict(list)
    for schema in defs.get_all_schemas_with_history():
        prose[schema.domain or "ai.onnx", schema.name].append(schema.doc or "")
    return prose


def differences(ours: list[Operator], facts: list[Operator]) -> list[str]:
    """Returns one line for each fact in which an entry differs from the standard."""
    result: list[str] = []
    left = {(v.domain, v.op, v.since): v for operator in ours for v in operator.versions}
    right = {(v.domain, v.op, v.since): v for operator in facts for v in operator.versions}
    for domain, op, since in sorted(right.keys() - left.keys()):
        result.append(f"{domain} {op}-{since}: no entry")
    for key in sorted(left.keys() - right.keys()):
        result.append(f"{left[key].path}:{left[key].line}: {left[key].name} is not in the standard")
    for key in sorted(left.keys() & right.keys()):
        ours_says, fact_says = _statement(left[key]), _statement(right[key])
        for what in sorted(ours_says.keys() | fact_says.keys()):
            mine, theirs = ours_says.get(what), fact_says.get(what)
            if mine != theirs:
                where = f"{left[key].path}:{left[key].line}: {left[key].name}"
                result.append(f"{where}: {what} is {mine}, the standard says {theirs}")
    return result


def _statement(version: Version) -> dict[str, Any]:
    """Returns a version as a flat dictionary of facts that == compares. Attributes and constraints are unordered."""
    says: dict[str, Any] = {"deprecated": version.deprecated, "all_outputs": version.all_outputs}
    for side, parameters in (("inputs", version.inputs), ("outputs", version.outputs)):
        says[side] = [parameter.name for parameter in parameters]
        for p in parameters:
            says[f"{side}.{p.name}"] = (p.type, p.optional, p.variadic, p.homogeneous, p.least)
    for a in version.attributes:
        says[f"attribute {a.name}"] = (a.kind, a.required, _as_stored(a))
    for name, types in version.types.items():
        says[f"types {name}"] = in_order(types)
    return says


def _as_stored(attribute: Attribute) -> Any:
    """Returns the default as a model file holds it: real numbers are float32, compared by their bits."""
    if attribute.default is MISSING or not attribute.kind.startswith("float"):
        return "none" if attribute.default is MISSING else attribute.default
    values = attribute.default if isinstance(attribute.default, list) else [attribute.default]
    return [struct.pack("<f", value) for value in values]


def _version(schema: defs.OpSchema) -> Version:
    version = Version(schema.domain or "ai.onnx", schema.name, schema.since_version, "", schema.deprecated)
    version.inputs = [_parameter(p) for p in schema.inputs]
    version.outputs = [_parameter(p) for p in schema.outputs]
    version.all_outputs = _has_a_gap(schema)
    version.attributes = [_attribute(a) for _, a in sorted(schema.attributes.items())]
    for constraint in schema.type_constraints:
        types = in_order([from_standard(type_) for type_ in constraint.allowed_type_strs])
        version.types[constraint.type_param_str] = types
    return version


def _has_a_gap(schema: defs.OpSchema) -> bool:
    """True if some number of outputs between minimum and maximum is not admitted. Only the checker decides it."""
    context = onnx.checker.DEFAULT_CONTEXT.__class__()
    context.ir_version = onnx.IR_VERSION
    context.opset_imports = {schema.domain: schema.since_version}
    inputs = [f"input_{k}" for k in range(schema.min_input)]
    most = 0 if any(p.option == _OPTION.Variadic for p in schema.outputs) else schema.max_output
    for count in range(schema.min_output + 1, most):
        outputs = [f"output_{k}" for k in range(count)]
        try:
            onnx.checker.check_node(onnx.helper.make_node(schema.name, inputs, outputs, domain=schema.domain), context)
        except onnx.checker.ValidationError as error:
            if "not in allowed output sizes" in str(error):
                return True
    return False


def _parameter(fact: defs.OpSchema.FormalParameter) -> Parameter:
    # Split-1 names its output "outputs...": the dots are not part of the name.
    result = Parameter(fact.name.removesuffix("..."), from_standard(fact.type_str))
    result.optional = fact.option == _OPTION.Optional
    result.variadic = fact.option == _OPTION.Variadic
    if result.variadic:
        result.homogeneous, result.least = fact.is_homogeneous, fact.min_arity
    return result


def _attribute(fact: defs.OpSchema.Attribute) -> Attribute:
    kind = fact.type.name.lower().replace("type_proto", "type")
    default: Any = MISSING
    if fact.default_value is not None and fact.default_value.type != onnx.AttributeProto.UNDEFINED:
        default = _plain(onnx.helper.get_attribute_value(fact.default_value))
    return Attribute(fact.name, kind, fact.required, default)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    return [_plain(item) for item in value] if isinstance(value, list) else value
