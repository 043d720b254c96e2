"""Every version of every operator states the facts of onnx.defs of the pinned onnx, and a wrong fact is detected."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
import yaml

from codegen.entry import Operator, Version
from codegen.facts import differences, load_facts
from codegen.value_types import ELEMENTS

SPEC = Path(__file__).parents[2] / "spec"


@pytest.fixture(scope="module")
def facts() -> list[Operator]:
    return load_facts()


def test_the_pinned_onnx_is_the_one_compared_with() -> None:
    assert onnx.__version__ == "1.23.2"


def test_every_version_of_every_operator_is_there(operators: list[Operator]) -> None:
    assert len(operators) == 227
    assert sum(len(operator.versions) for operator in operators) == 659


def test_every_fact_agrees_with_the_standard(operators: list[Operator], facts: list[Operator]) -> None:
    assert differences(operators, facts) == []


def test_element_types_stand_in_the_order_of_their_codes() -> None:
    assert [name.upper() for name in ELEMENTS] == [name for name, code in onnx.TensorProto.DataType.items() if code]
    types = yaml.safe_load((SPEC / "types.yaml").read_text(encoding="utf-8"))["types"]
    assert [fact["name"] for fact in sorted(types, key=lambda fact: fact["code"])] == list(ELEMENTS)


def _first(operators: list[Operator], fits: Callable[[Version], bool]) -> Version:
    return next(version for operator in operators for version in operator.versions if fits(version))


def _rename(version: Version) -> None:
    version.inputs[0].name += "_"


def _swap(version: Version) -> None:
    version.inputs.reverse()


def _default(version: Version) -> None:
    attribute = next(a for a in version.attributes if isinstance(a.default, float))
    attribute.default += 1e-6


BREAKS: dict[str, tuple[Callable[[Version], object], Callable[[Version], None], str]] = {
    "a name": (lambda v: bool(v.inputs), _rename, "inputs is"),
    "the order": (lambda v: len(v.inputs) == 3, _swap, "inputs is"),
    "optional": (lambda v: bool(v.outputs), lambda v: setattr(v.outputs[0], "optional", True), "outputs."),
    "variadic": (lambda v: bool(v.outputs), lambda v: setattr(v.outputs[0], "variadic", True), "outputs."),
    "homogeneous": (lambda v: bool(v.outputs), lambda v: setattr(v.outputs[0], "homogeneous", False), "outputs."),
    "arity": (lambda v: bool(v.inputs), lambda v: setattr(v.inputs[0], "least", 2), "inputs."),
    "a parameter's type": (lambda v: bool(v.inputs), lambda v: setattr(v.inputs[0], "type", "Q"), "inputs."),
    "a missing attribute": (lambda v: bool(v.attributes), lambda v: v.attributes.pop() and None, "attribute "),
    "an attribute's kind": (
        lambda v: bool(v.attributes),
        lambda v: setattr(v.attributes[0], "kind", "x"),
        "attribute ",
    ),
    "required": (lambda v: bool(v.attributes), lambda v: setattr(v.attributes[0], "required", 1), "attribute "),
    "a default": (
        lambda v: any(isinstance(a.default, float) and 0 < a.default < 1 for a in v.attributes),
        _default,
        "attribute ",
    ),
    "deprecation": (lambda v: v.deprecated, lambda v: setattr(v, "deprecated", False), "deprecated is"),
    "all outputs": (lambda v: v.all_outputs, lambda v: setattr(v, "all_outputs", False), "all_outputs is"),
    "any outputs": (lambda v: len(v.outputs) == 2, lambda v: setattr(v, "all_outputs", True), "all_outputs is"),
    "a type of a constraint": (
        lambda v: bool(v.types),
        lambda v: next(iter(v.types.values())).pop() and None,
        "types ",
    ),
    "a constraint": (lambda v: bool(v.types), lambda v: v.types.update(Q=["float"]), "types Q"),
    "a version": (lambda v: True, lambda v: setattr(v, "since", 99), "not in the standard"),
}


@pytest.mark.parametrize("what", BREAKS)
def test_a_false_fact_is_found(what: str, operators: list[Operator], facts: list[Operator]) -> None:
    fits, break_, says = BREAKS[what]
    broken = copy.deepcopy(operators)
    version = _first(broken, lambda v: bool(fits(v)))
    where = f"{version.path}:{version.line}"
    break_(version)
    found = differences(broken, facts)
    assert any(line.startswith(where) and says in line for line in found), found
