"""Variations of a draft's inputs: which of them hold data, and other data and shapes for them."""

from __future__ import annotations

import re
from dataclasses import replace

from codegen.entry import Parameter, Version
from tests.lines.draft import FLOATS, Box, Draft, Tensor, Value

REGIMES = (
    "special", "real", "logs", "whole", "cancel", "giant", "constant", "two", "far", "positive", "unit", "size",
    "above",
)  # fmt: skip
MANY_TYPES = 4  # a constraint with more types than this, or with a float type, is for data, not for positions


def parameter_of(version: Version, k: int) -> Parameter:
    return version.inputs[min(k, len(version.inputs) - 1)]


def allowed_at(version: Version, k: int) -> list[str]:
    type_ = parameter_of(version, k).type
    return version.types.get(type_, [type_])


def is_data(version: Version, draft: Draft, k: int) -> bool:
    """True if the input takes arbitrary numbers, as opposed to positions, extents or axes."""
    allowed = allowed_at(version, k)
    inside = {word for type_ in allowed for word in re.findall(r"\w+", type_)}
    return len(allowed) > MANY_TYPES or bool(inside & set(FLOATS))


def data_ports(version: Version, draft: Draft) -> list[int]:
    return [k for k, port in enumerate(draft.ports) if port.value is not None and is_data(version, draft, k)]


def with_regime(value: Value, regime: str) -> Value:
    if isinstance(value, Tensor):
        return replace(value, data=regime) if value.size else value
    if isinstance(value, Box):
        return Box(value.type, tuple(with_regime(item, regime) for item in value.items))
    return value


def filled(version: Version, draft: Draft, regime: str, only: int | None = None) -> Draft:
    for k in data_ports(version, draft):
        if only in (None, k):
            draft = draft.with_value(k, with_regime(draft.ports[k].value, regime))
    return draft


def tensors(draft: Draft) -> list[tuple[int, Tensor]]:
    return [(k, p.value) for k, p in enumerate(draft.ports) if isinstance(p.value, Tensor)]


def reshaped(value: Tensor, dims: tuple[int, ...]) -> Tensor:
    unsaid = not isinstance(value.data, str) and (not value.data or (len(value.data) > 1 and value.element == "string"))
    data = "real" if unsaid else value.data
    return replace(value, dims=dims, data=data, symbols=value.symbols[: len(dims)])


def symbolic(seed: Draft) -> Draft:
    """The seed with a symbolic name for each extent; equal extents get one name."""
    names: dict[int, str] = {}
    made = seed
    for k, value in tensors(seed):
        symbols = tuple(names.setdefault(n, "nmkpqrstuv"[len(names) % 10]) for n in value.dims)
        made = made.with_value(k, replace(value, symbols=symbols))
    return made


def rotated(seeds: list[Draft], by: int) -> list[Draft]:
    return seeds[by % len(seeds) :] + seeds[: by % len(seeds)] if seeds else []
