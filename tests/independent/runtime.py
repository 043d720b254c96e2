"""The object R of translated definitions: the notation's functions other than arithmetic, under their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import mpmath

from tests.independent import arithmetic as a
from tests.independent import elements, formats, indices, texts
from tests.independent.elements import REALS, bits, is_one_of  # noqa: F401
from tests.independent.formats import whole
from tests.independent.indices import *  # noqa: F403
from tests.independent.indices import _mod, _smaller, item
from tests.independent.refusal import LeftOut, Refusal
from tests.independent.tensors import ABSENT, Optional, Sequence, Tensor

box, head = indices.box, indices.head


def missing() -> Any:
    raise Refusal("an input that is read is left out")


def no_choice(text: str) -> Any:
    raise Refusal(f"'{text}' is none of the choices")


def once(make: Callable[[], Any]) -> Callable[[], Any]:
    """Evaluates lazily, at most once."""
    kept: list[Any] = []

    def get() -> Any:
        if not kept:
            kept.append(make())
        return kept[0]

    return get


# -- tensors -------------------------------------------------------------------------------------------------------
def shape(t: Tensor | None) -> tuple[int, ...]:
    if not isinstance(t, Tensor):
        raise Refusal("the shape is wanted of what is no tensor")
    return t.shape


def dim(t: Tensor, k: int) -> int:
    extents = shape(t)
    return item(extents, k + len(extents) if k < 0 else k)


def value(t: Tensor, whole_numbers: bool) -> tuple[Any, ...]:
    return tuple(map(cut if whole_numbers else real, t.flat()))


def cut(x: Any) -> int:
    """Converts an element to an index: truncates fractions, and clamps values to the range of indices."""
    if x.__class__ is float:
        return indices.LARGEST if x > 0 else 0 if x == 0 else -indices.LARGEST - 1
    return min(max(formats.towards_zero(x), -indices.LARGEST - 1), indices.LARGEST)


def type_of(x: Any) -> str:
    """The element type of a tensor, or of a type's code or name."""
    if isinstance(x, Tensor):
        return x.type
    if isinstance(x, int):
        if x not in formats.BY_CODE:
            raise Refusal(f"{x} is no element type")
        return formats.BY_CODE[x].name
    if x.lower() not in formats.FORMATS:
        raise Refusal(f"{x} is no element type")
    return x.lower()


def view(t: Tensor, extents: tuple[int, ...]) -> Tensor:
    return ABSENT if t is ABSENT else t.view(extents)


def permuted(t: Tensor, order: tuple[int, ...]) -> Tensor:
    return ABSENT if t is ABSENT else t.permuted(order)


def elements_of(t: Tensor | None) -> Any:
    """Operations on the elements of a tensor; on reals for an attribute that is left out."""
    return REALS if t is None else elements.of_type(t.type)


def only(x: Any) -> Any:
    return x.only if isinstance(x, Tensor) else x


def positions(t: Tensor) -> tuple[int, ...]:
    return tuple(k for k, v in enumerate(t.flat()) if v not in (0, "", (0, 0)))


def steps(start: Tensor, limit: Tensor, delta: Tensor) -> int:
    first, last, by = start.only, limit.only, delta.only
    if by == 0:
        raise Refusal("a range of steps of 0")
    return max(0, ceil_index(a.maximum(a.div(a.sub(last, first), by), 0)))


# -- lists ---------------------------------------------------------------------------------------------------------
def contains(values: Any, one: Any) -> bool:
    return one in values


def broadcast(*parts: Any) -> tuple[int, ...]:
    return indices.broadcast(*shapes_of(parts))


def broadcastable(*parts: Any) -> bool:
    return indices.broadcastable(*shapes_of(parts))


def shapes_of(parts: Iterable[Any]) -> list[tuple[int, ...]]:
    """Shapes; a variadic family of tensors contributes the shape of each."""
    made = []
    for part in parts:
        made += [t.shape for t in part] if isinstance(part, list) else [part]
    return made


def ends(tensors: list[Tensor], axis: int) -> tuple[int, ...]:
    made, at = [], 0
    for t in tensors:
        at += dim(t, axis)
        made.append(at)
    return tuple(made)


def _reals(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return indices.over(function)


add_reals, sub_reals, mul_reals, div_reals = map(_reals, (a.add, a.sub, a.mul, a.div))


def sum_of_indices(values: Iterable[int]) -> int:
    return sum(values)


def prod_of_indices(values: Iterable[int]) -> int:
    made = 1
    for one in values:
        made *= one
    return made


def max_of_indices(values: Iterable[int]) -> int:
    return max(values, default=-indices.LARGEST - 1)


def min_of_indices(values: Iterable[int]) -> int:
    return min(values, default=indices.LARGEST)


def argmax(pairs: Iterable[tuple[Any, Any]]) -> Any:
    return _first(pairs, lambda new, best: new > best)


def argmin(pairs: Iterable[tuple[Any, Any]]) -> Any:
    return _first(pairs, lambda new, best: new < best)


def _first(pairs: Iterable[tuple[Any, Any]], wins: Callable[[Any, Any], bool]) -> Any:
    """The position of the first best element; the first NaN wins over all numbers."""
    best: Any = None
    at: Any = None
    for one, place in pairs:
        if at is None or (best == best and (one != one or wins(one, best))):
            best, at = one, place
    if at is None:
        raise Refusal("the largest or smallest of nothing has no place")
    return at


# -- conversions between indices and reals -----------------------------------------------------------------------------
def floor_index(x: Any) -> int:
    return int(a.floor(number(x)))


def ceil_index(x: Any) -> int:
    return int(a.ceil(number(x)))


def number(x: Any) -> Any:
    if x.__class__ is float and x != 0 or abs(x) > 9 * 10**18:
        raise Refusal("a coordinate is no number or too large for an index")
    return x


def within(k: int, n: int) -> int:
    if not 0 <= k < n:
        raise Refusal(f"index {k} is outside of {n}")
    return k


def index(x: Any, n: int | None = None) -> int:
    k = cut(x)
    if n is None:
        return k
    if not -n <= k < n:
        raise Refusal(f"index {k} is outside of {n}")
    return k + n if k < 0 else k


def real(x: Any) -> Any:
    return int(x) if x.__class__ is bool else x


def fraction(x: Any) -> Any:
    return a.sub(x, a.floor(x))


def cos_of_turn(j: int, n: int) -> Any:
    """cos(2 pi j / n), exact at multiples of a sixth and a quarter turn."""
    if n <= 0:
        raise Refusal(f"a turn has no {n} parts")
    part = Fraction(_mod(j, n), n)
    if part.denominator in (1, 2, 4):
        return (1, 0, -1, 0)[int(part * 4)]
    if part.denominator in (3, 6):
        return Fraction(1 if part < Fraction(1, 4) or part > Fraction(3, 4) else -1, 2)
    return a.back(mpmath.cos(2 * mpmath.pi * a.mp(part)))


def sin_of_turn(j: int, n: int) -> Any:
    return cos_of_turn(4 * j - n, 4 * n)


# -- elements ------------------------------------------------------------------------------------------------------
def is_nan(x: Any) -> bool:
    return x != x


def is_inf(x: Any) -> bool:
    return x.__class__ is float and x in (formats.INFINITY, -formats.INFINITY)


def convert(x: Any, source: str | None, target: str, saturate: Any = False, round_mode: str = "nearest") -> Any:
    """Converts as Cast does. An integer attribute `saturate` affects 8-bit floats only; a condition, every type."""
    if source in formats.FORMATS and formats.is_float(source) and not formats.is_float(target):
        x = formats.fit(source, x)  # an element is a number of its type
    if isinstance(x, str):
        if target == "string":
            return x
        x = texts.number_of(x, target)
    if target == "string":
        if source is None:
            raise LeftOut("text: of a real")
        return texts.text_of(x, source)
    if isinstance(x, tuple) or formats.FORMATS[target].kind == "complex":
        raise LeftOut("convert: complex numbers")
    if saturate.__class__ is int:
        saturate = saturate != 0 and formats.is_float(target) and formats.FORMATS[target].bits == 8
    mode = round_mode if target == "float8e8m0" else "nearest"
    if mode not in formats.ROUNDINGS and mode != "nearest":
        raise Refusal(f"round_mode '{round_mode}'")
    value = int(x) if x.__class__ is bool else x
    return formats.fit(
        target, value, bool(saturate), {"nearest": "nearest_up"}.get(mode, mode) if target == "float8e8m0" else mode
    )


def round_to(x: Any, target: str) -> Any:
    return formats.fit(target, x)


def activate(name: str, x: Any, alpha: Any, beta: Any) -> Any:
    """Activation functions of recurrent operators, as their documentation lists them."""
    if name == "relu":
        return a.maximum(x, 0)
    if name == "affine":
        return a.add(a.mul(alpha, x), beta)
    if name == "leakyrelu":
        return x if x >= 0 or x != x else a.mul(alpha, x)
    if name == "thresholdedrelu":
        return x if x >= alpha or x != x else 0
    if name == "scaledtanh":
        return a.mul(alpha, a.tanh(a.mul(beta, x)))
    if name == "hardsigmoid":
        return a.minimum(a.maximum(a.add(a.mul(alpha, x), beta), 0), 1)
    if name == "elu":
        return x if x >= 0 or x != x else a.mul(alpha, a.sub(a.exp(x), 1))
    if name == "softsign":
        return a.div(x, a.add(1, a.absolute(x)))
    if name in ("tanh", "sigmoid", "softplus"):
        return getattr(a, name)(x)
    raise Refusal(f"there is no activation '{name}'")


__all__ = ["Optional", "Sequence", "_smaller", "whole"]
