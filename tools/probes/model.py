"""Builds the model of a probe, and compares answers.

An answer holds arrays (lists of them for sequences), or the reason why there are none.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper

from codegen.case_values import Literal, Sequence, Tensor, inside, literal
from codegen.emit_cases import RAISES, ir_for, load_releases, make_case, outputs_of
from codegen.entry import Operator, SpecError, Version
from codegen.questions import RUNTIMES, Note, Probe
from codegen.value_types import ELEMENTS
from conformance.targets import values

Held = np.ndarray | list[np.ndarray]
ANY_RULE = "probe/any"  # the probe expects a refusal by any rule


@dataclass
class Answer:
    """Answer of a runtime; `kind` is outputs, error, unsupported or crash."""

    kind: str
    arrays: list[Held] = field(default_factory=list)
    why: str = ""


@dataclass
class Question:
    """Probe with its model and feeds, and each runtime's expected answer."""

    probe: Probe
    model: onnx.ModelProto
    feeds: dict[str, bytes]  # input -> TensorProto, SequenceProto or MapProto, by the type of the model's input
    expected: dict[str, Answer]

    @property
    def name(self) -> str:
        return f"{self.probe.question}/{self.probe.name}"


def questions_of(notes: list[Note], operators: list[Operator], spec: Path) -> list[Question]:
    versions = {version.name: version for operator in operators for version in operator.versions}
    releases = load_releases(spec)
    out = []
    for note in notes:
        for probe in note.probes:
            version = versions[probe.of]
            out.append(make_question(probe, version, ir_for(version.domain, probe.opset, releases)))
    return out


def make_question(probe: Probe, version: Version, ir: int) -> Question:
    # The evaluator alone does not check the declared types, so its answer comes last.
    said = [probe.says.get(runtime, "") for runtime in ("reference", "onnxruntime", "onnx")]
    answers = [says for says in said if isinstance(says, dict)]
    # If all refuse, the model has the outputs that the version requires.
    says = {**probe.case, **answers[0]} if answers else {**probe.case, RAISES: ANY_RULE}
    case = make_case(version, f"{probe.question}/{probe.name}", says, probe.opset, ir)
    for info in case.model.graph.output:
        if info.type.HasField("tensor_type"):
            info.type.tensor_type.ClearField("shape")  # so that no runtime learns the shape of the answer
    feeds = {info.name: value for info, value in zip(case.model.graph.input, case.inputs, strict=True)}
    types = [type_of(info.type) for info in case.model.graph.output]
    several = {output.name for output in outputs_of(version) if output.variadic}
    expected = {runtime: _answer(probe, probe.says[runtime], types, several) for runtime in RUNTIMES}
    return Question(probe, case.model, feeds, expected)


def _answer(probe: Probe, says: dict[str, Any] | str, types: list[str], several: set[str]) -> Answer:
    if isinstance(says, str):
        return Answer(says)
    values = [one for name, value in says.items() for one in (value if name in several else [value])]
    arrays = []
    try:
        for value, type_ in zip(values, types, strict=True):
            arrays.append(held_by(literal(value, lambda _, type_=type_: type_)))
    except ValueError as error:
        raise SpecError(probe.path, probe.line, f"the probe {probe.name}: {error}") from error
    return Answer("outputs", arrays)


def type_of(type_: onnx.TypeProto) -> str:
    """Returns a type in the spelling of entries."""
    if type_.HasField("sequence_type"):
        return f"seq({type_of(type_.sequence_type.elem_type)})"
    return ELEMENTS[type_.tensor_type.elem_type - 1] if type_.tensor_type.elem_type else "float"


def held_by(value: Literal) -> Held:
    if isinstance(value, Sequence) and inside(value.type, "seq") in ELEMENTS:
        return [item.array for item in value.items]
    if not isinstance(value, Tensor):
        raise ValueError("only tensors and sequences of them are compared")
    return value.array


def same(left: Answer, right: Answer) -> bool:
    if left.kind != right.kind or len(left.arrays) != len(right.arrays):
        return False
    return all(same_array(a, b) for a, b in zip(left.arrays, right.arrays, strict=True))


def same_array(left: Held, right: Held) -> bool:
    """Compares bit for bit, except that all NaNs are equal."""
    if isinstance(left, list) or isinstance(right, list):
        both = isinstance(left, list) and isinstance(right, list) and len(left) == len(right)
        return both and all(same_array(a, b) for a, b in zip(left, right, strict=True))
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    if left.dtype == object:
        return left.tolist() == right.tolist()
    if left.dtype.kind in "biu" or left.size == 0:
        return left.tobytes() == right.tobytes()
    numbers = left == left
    return bool((numbers == (right == right)).all()) and left[numbers].tobytes() == right[numbers].tobytes()


def shown(answer: Answer) -> str:
    """Formats an answer as in a probe."""
    return ", ".join(map(_shown, answer.arrays)) if answer.kind == "outputs" else answer.kind


def _shown(array: Held) -> str:
    if isinstance(array, list):
        return f"[{', '.join(map(_shown, array))}]"
    element = "string" if array.dtype == object else ELEMENTS[helper.np_dtype_to_tensor_dtype(array.dtype) - 1]
    if array.size == 0:
        return f"{{type: {element}, shape: {list(array.shape)}, data: []}}"
    data = _nested(array if array.dtype.kind in "biuO" or element == "float" else array.astype(np.float64))
    return data if element in ("float", "int64", "bool", "string") else f"{{type: {element}, data: {data}}}"


def _nested(array: np.ndarray) -> str:
    """Formats numbers as YAML; a float has the shortest text that identifies it."""
    if array.ndim > 0:
        return f"[{', '.join(_nested(np.asarray(item, array.dtype)) for item in array)}]"
    if array.dtype.kind != "f":
        return json.dumps(array.item())
    number = array[()]
    return ".nan" if number != number else str(number).replace("inf", ".inf")


def to_value(data: bytes, info: onnx.ValueInfoProto) -> Any:
    """Returns a value in the form of Python runtimes: an array, a list of them, a dict."""
    return values.read(data, info.type)
