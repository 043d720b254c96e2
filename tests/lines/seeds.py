"""Seeds of variations: the literal cases of the entries, at every version that has their names."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from codegen import case_values
from codegen.emit_cases import RAISES, inputs_of, known, names
from codegen.entry import Attribute, Operator, Parameter, Version
from codegen.value_types import to_text
from tests.lines.draft import COMPLEX, Box, Draft, Item, Port, Raw, Tensor, Value, shortest, written

ANY = list(case_values.ELEMENTS)
MAX_ELEMENTS = 80  # of a tensor whose elements are written out; larger ones get a regime
MAX_LENGTH = 600  # of a line


def seeds_of(operator: Operator, version: Version) -> list[Draft]:
    """Drafts from cases of this version first, then from other versions' cases whose names it has."""
    found: dict[str, Draft] = {}
    for home in sorted(operator.versions, key=lambda v: (v is not version, -v.since)):
        for says in home.cases.values():
            draft = draft_of(version, says) if says and RAISES not in says else None
            if draft and len(str(draft)) <= MAX_LENGTH:
                found.setdefault(str(draft), draft)
    return list(found.values())


def breaking_of(operator: Operator, version: Version) -> list[str]:
    """Lines of the literal cases, of any version, that a rule refuses."""
    cases = [case for home in operator.versions for case in home.cases.values() if case and RAISES in case]
    drafts = [draft_of(version, case) for case in cases]
    return list(dict.fromkeys(str(draft) for draft in drafts if draft))


def draft_of(version: Version, says: Any) -> Draft | None:
    """A draft of a literal case, or None if this version or the line format cannot express it."""
    if not says or not names(says) <= known(version):
        return None
    try:
        ports = tuple(Port(value_of(each) if name else None) for name, each in inputs_of(version, says))
        attributes = tuple(
            sorted((a.name, attribute_text(a, says[a.name])) for a in version.attributes if a.name in says)
        )
    except (ValueError, TypeError, OverflowError, KeyError, NotImplementedError):
        return None
    wanted = "".join("x" * asked(p, says) or "_" for p in version.outputs).rstrip("_")
    return Draft(line_name(version), ports, attributes, wanted if needs_mask(version, says, wanted) else "")


def line_name(version: Version) -> str:
    return version.name if version.domain == "ai.onnx" else f"{version.domain}.{version.name}"


def needs_mask(version: Version, says: dict[str, Any], wanted: str) -> bool:
    return wanted != min_outputs(version) and bool(wanted)


def asked(output: Parameter, says: dict[str, Any]) -> int:
    """The number of outputs that a case names. A negative case uses every required output, whatever it names."""
    if output.variadic and output.name in says:
        return len(says[output.name])
    return int(output.name in says or (RAISES in says and not output.optional and not output.variadic))


def min_outputs(version: Version) -> str:
    return "".join("_" if p.optional else "x" for p in version.outputs).rstrip("_") or "x"


def value_of(literal: case_values.Literal) -> Value:
    if isinstance(literal, case_values.Tensor):
        return tensor_of(literal)
    if isinstance(literal, case_values.Sequence):
        return Box(literal.type, tuple(value_of(item) for item in literal.items))
    if isinstance(literal, case_values.Optional):
        return Box(literal.type, () if literal.item is None else (value_of(literal.item),))
    pairs = ",".join(f"{written(key)}:{written(items_of(one)[0])}" for key, one in literal.items.items())
    return Raw(literal.type, f"{to_text(literal.type)}{{{pairs}}}")


def tensor_of(literal: case_values.Tensor) -> Tensor:
    if literal.array.size > MAX_ELEMENTS:
        return Tensor(literal.type, literal.array.shape, "real")
    return Tensor(literal.type, literal.array.shape, shortest(items_of(literal)))


def items_of(literal: case_values.Tensor) -> list[Item]:
    if literal.type in COMPLEX:
        return [part for x in literal.array.ravel() for part in (float(x.real), float(x.imag))]
    if literal.type == "string":
        return [str(x) for x in literal.array.ravel()]
    if literal.array.dtype.kind in "iub":
        return [int(x) for x in literal.array.ravel()]
    return [float(x) if literal.array.dtype.kind == "f" else as_number(x) for x in literal.array.ravel()]


def as_number(x: Any) -> Item:
    """Converts via float64, since numpy has no kind for the small integers of ml_dtypes."""
    return float(np.float64(x))


def attribute_text(attribute: Attribute, says: Any) -> str:
    """An attribute's value in the syntax of lines."""
    kind = attribute.kind
    if kind == "tensor":
        made = value_of(case_values.literal(says, lambda first: case_values.element_by_literal(first, ANY, "x")))
        if not isinstance(made, Tensor) or isinstance(made.data, str):
            raise NotImplementedError("a large tensor")
        return str(made)
    if kind == "type":
        return json.dumps(to_text(says))
    if kind in ("int", "float", "string"):
        return written(says)
    if kind in ("ints", "floats", "strings"):
        return "[" + ",".join(map(written, says)) + "]"
    raise NotImplementedError(f"an attribute of kind {kind}")
