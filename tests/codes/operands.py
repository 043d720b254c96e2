"""Operands of the tests, and the arithmetic of their witnesses: Python integers, numpy's float32 and float64."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import numpy as np
import onnx.defs

from tests.codes.casting import cast
from tests.codes.formats import BITS, FLOATS, INTEGERS, all_codes, codes_of, floats, holder, integers, limits
from tests.codes.graphs import Codes

SCHEMAS = {(s.name, s.since_version): s for s in onnx.defs.get_all_schemas_with_history() if s.domain == ""}


def versions(op: str) -> list[int]:
    return sorted(since for name, since in SCHEMAS if name == op)


@cache
def allowed(op: str, since: int, constraint: str) -> list[str]:
    """The tensor types of a version, as the standard lists them."""
    (types,) = (c.allowed_type_strs for c in SCHEMAS[op, since].type_constraints if c.type_param_str == constraint)
    return [name for name in [*BITS, "string"] if f"tensor({name})" in types]


def special_integers(name: str) -> list[int]:
    """All integers of a type of 8 bits or fewer; else its ends and the neighbors of powers of two."""
    low, high = limits(name)
    if BITS[name] <= 8:
        return list(range(low, high + 1))
    points = {0, 3, 10, low, high, *(sign << power for power in (7, 15, 24, 31, 53, 63) for sign in (1, -1))}
    near = {point + step for point in points for step in (-1, 0, 1)}
    return sorted(value for value in near if low <= value <= high)


def special_numbers(name: str) -> np.ndarray:
    """Codes of a float type: zeros, subnormals, ones, ends, infinities, and NaN of both signs."""
    form = FLOATS[name]
    one = form.bias << form.mantissa
    top = ((1 << form.exponent) - 1) << form.mantissa
    normal, quiet = 1 << form.mantissa, top | 1 << form.mantissa - 1
    positive = [0, 1, normal - 1, normal, one - normal, one - 1, one, one + 1, one + normal, one + normal + normal // 2]
    positive += [top - normal, top - 1, top, top + 1, quiet, quiet + 1]
    return np.array([code | sign for sign in (0, 1 << form.bits - 1) for code in positive], holder(name))


def samples(name: str) -> Codes:
    if name == "bool":
        return Codes(name, all_codes(name))
    made = codes_of(name, special_integers(name)) if name in INTEGERS else special_numbers(name)
    return Codes(name, made)


def crossed(left: Codes, right: Codes) -> tuple[Codes, Codes]:
    """Every pair of an element of `left` with one of `right`."""
    m, n = left.codes.size, right.codes.size
    return left.at(np.repeat(np.arange(m), n)), right.at(np.tile(np.arange(n), m))


def pairs(name: str) -> tuple[Codes, Codes]:
    return crossed(samples(name), samples(name))


def kept(left: Codes, right: Codes, good: Callable[[int, int], bool]) -> tuple[Codes, Codes]:
    """The pairs of integers that satisfy the operator's precondition `good`."""
    both = zip(integers(left.type, left.codes), integers(right.type, right.codes), strict=True)
    where = np.flatnonzero([good(a, b) for a, b in both])
    return left.at(where), right.at(where)


def on_integers(compute: Callable[..., int], name: str, *values: Codes) -> Codes:
    """Computes element by element in Python integers, then modulo 2^n (bool: unchanged)."""
    made = [compute(*row) for row in zip(*(integers(value.type, value.codes) for value in values), strict=True)]
    codes = np.array(made, np.uint8) if name == "bool" else codes_of(name, made)
    return Codes(name, codes.reshape(values[0].codes.shape))


def numbers(value: Codes) -> np.ndarray:
    """Values in the type that the operators compute in: double for double, float32 for all narrower types."""
    exact = floats(value.type, value.codes)
    return exact if value.type == "double" else exact.astype(np.float32)


def stored(made: np.ndarray, name: str) -> Codes:
    """Rounds to a float type, or stores bools."""
    if name == "bool":
        return Codes(name, made.astype(np.uint8))
    held = "double" if made.dtype == np.float64 else "float"
    return cast(Codes(held, made.view(holder(held))), name)


def on_floats(compute: Callable[..., np.ndarray], name: str, *values: Codes) -> Codes:
    with np.errstate(all="ignore"):
        return stored(compute(*(numbers(value) for value in values)), name)


def floats_in(types: Iterable[str]) -> list[str]:
    return [name for name in types if name in FLOATS]


def integers_in(types: Iterable[str]) -> list[str]:
    return [name for name in types if name in INTEGERS]
