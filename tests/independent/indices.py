"""Indices and lists of them: the notation's functions (spec/reference.md) on Python ints and tuples."""

from __future__ import annotations

import functools
import itertools
import math
import string
from collections.abc import Callable, Iterator
from typing import Any

from tests.independent.refusal import Refusal

Indices = tuple[int, ...]
LARGEST = (1 << 63) - 1


def box(shape: Indices) -> Iterator[Indices]:
    return itertools.product(*map(range, shape))


def over(function: Callable[..., int]) -> Callable[..., Any]:
    """Lifts a function of indices to lists, item by item; a single index pairs with every item of a list."""

    def made(a: Any, b: Any) -> Any:
        if isinstance(a, tuple):
            if isinstance(b, tuple):
                if len(a) != len(b):
                    raise Refusal(f"lists of {len(a)} and {len(b)} items meet")
                return tuple(map(function, a, b))
            return tuple(function(x, b) for x in a)
        return tuple(function(a, y) for y in b) if isinstance(b, tuple) else function(a, b)

    return made


def _quotient(a: int, b: int) -> int:
    if b == 0:
        raise Refusal("an index is divided by zero")
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _floor(a: int, b: int) -> int:
    if b == 0:
        raise Refusal("an index is divided by zero")
    return a // b


def _mod(a: int, b: int) -> int:
    return a - b * _floor(a, b)


def _reflect(i: int, n: int) -> int:
    """Reflects i at the first and last of n positions, without repeating them."""
    if n == 1:
        return 0
    k = _mod(i, 2 * n - 2)
    return min(k, 2 * n - 2 - k)


add = over(lambda a, b: a + b)
subtract = over(lambda a, b: a - b)
multiply = over(lambda a, b: a * b)
quotient = over(_quotient)
remainder = over(lambda a, b: a - b * _quotient(a, b))
floor_div = over(_floor)
ceil_div = over(lambda a, b: -_floor(-a, b))
mod = over(_mod)
wrap = over(lambda i, n: i + n if i < 0 else i)
reflect = over(_reflect)
_smaller, _larger = over(min), over(max)


def least(*parts: Any) -> Any:
    return functools.reduce(_smaller, parts)


def largest(*parts: Any) -> Any:
    return functools.reduce(_larger, parts)


def clamp(i: Any, low: Any, high: Any) -> Any:
    return _smaller(_larger(i, low), high)


def negative(a: Any) -> Any:
    return tuple(-x for x in a) if isinstance(a, tuple) else -a


def item(values: Any, k: int) -> Any:
    if not 0 <= k < len(values):
        raise Refusal(f"a list of {len(values)} has no item {k}")
    return values[k]


def count(shape: Indices) -> int:
    return math.prod(shape)


def replaced(values: Indices, at: Any, by: Any) -> Indices:
    made = list(values)
    for k, place in enumerate(at if isinstance(at, tuple) else (at,)):
        item(values, place)
        made[place] = item(by, k) if isinstance(by, tuple) else by
    return tuple(made)


def pick(values: Any, at: Indices) -> Any:
    return tuple(item(values, k) for k in at)


def part(values: Any, start: int, n: int) -> Any:
    if start < 0 or n < 0 or start + n > len(values):
        raise Refusal(f"{n} items from item {start} on, of a list of {len(values)}")
    return values[start : start + n]


def head(values: Any, n: int) -> Any:
    return part(values, 0, n)


def tail(values: Any, start: int) -> Any:
    return part(values, start, len(values) - start)


def placed(values: Indices, at: Indices) -> Indices:
    made = [0] * len(values)
    for k, value in enumerate(values):
        item(values, item(at, k))
        made[at[k]] = value
    return tuple(made)


def without(values: Indices, places: Indices) -> Indices:
    return tuple(value for k, value in enumerate(values) if k not in places)


def unsqueezed(values: Indices, at: Indices) -> Indices:
    rest = iter(values)
    return tuple(1 if k in at else next(rest) for k in range(len(values) + len(set(at))))


def repeat(i: int, n: int) -> Indices:
    return (i,) * max(n, 0)


def position(values: Indices, i: int) -> int:
    return values.index(i) if i in values else -1


def distinct(values: Indices) -> bool:
    return len(set(values)) == len(values)


def is_permutation(values: Indices) -> bool:
    return sorted(values) == list(range(len(values)))


def laid_over(shapes: list[Indices]) -> Indices | None:
    """The shape that all of them broadcast to, or None."""
    rank = max(map(len, shapes), default=0)
    made = []
    for extents in zip(*((1,) * (rank - len(s)) + s for s in shapes), strict=True):
        others = {d for d in extents if d != 1}
        if len(others) > 1:
            return None
        made.append(others.pop() if others else 1)
    return tuple(made)


def broadcast(*shapes: Indices) -> Indices:
    made = laid_over(list(shapes))
    if made is None:
        raise Refusal(f"shapes {', '.join(map(str, shapes))} do not broadcast")
    return made


def broadcastable(*shapes: Indices) -> bool:
    return laid_over(list(shapes)) is not None


def fit(point: Indices, shape: Indices, behind: int = 0) -> Indices:
    """The operand's own index for a point of the broadcast shape; the last `behind` dimensions are excluded."""
    own = shape[: len(shape) - behind]
    start = len(point) - len(own)
    return tuple(0 if d == 1 else point[start + k] for k, d in enumerate(own))


def fit_from(point: Indices, shape: Indices, axis: int) -> Indices:
    """The same, with the operand's first dimension aligned to `axis`."""
    return tuple(0 if d == 1 else item(point, axis + k) for k, d in enumerate(shape))


def ravel(point: Indices, shape: Indices) -> int:
    linear = 0
    for k, d in enumerate(shape):
        linear = linear * d + item(point, k)
    return linear


def unravel(linear: int, shape: Indices) -> Indices:
    made = []
    for d in reversed(shape):
        made.append(_mod(linear, d))
        linear = _floor(linear, d)
    return tuple(reversed(made))


def locate(ends: Indices, i: int) -> int:
    for k, end in enumerate(ends):
        if i < end:
            return k
    raise Refusal(f"index {i} is past the end of a list of parts")


def lower(text: str) -> str:
    return "".join(c.lower() if c in string.ascii_uppercase else c for c in text)


# -- Einsum equations --------------------------------------------------------------------------------------------------
def _term(text: str, equation: str) -> list[str]:
    found: list[str] = []
    while text:
        one = "..." if text.startswith("...") else text[0]
        if one != "..." and one not in string.ascii_letters or one == "..." and "..." in found:
            raise Refusal(f"the equation '{equation}' is malformed at '{text}'")
        found.append(one)
        text = text[len(one) :]
    return found


def subscripts(equation: str, ranks: Indices) -> Indices:
    """The label of each dimension of each input, then of the result. Labels of the result have the lowest numbers, in
    its order.
    """

    def malformed(why: str) -> Refusal:
        return Refusal(f"the equation '{equation}' is malformed: {why}")

    text = equation.replace(" ", "")
    if not text:
        raise malformed("it is empty")
    left, arrow, right = text.partition("->")
    terms = [_term(one, equation) for one in left.split(",")]
    if len(terms) != len(ranks):
        raise malformed(f"{len(terms)} terms for {len(ranks)} inputs")
    widths = set()
    for term, rank in zip(terms, ranks, strict=True):
        rest = rank - sum(one != "..." for one in term)
        if rest < 0 or ("..." not in term and rest):
            raise malformed("a term does not have the rank of its input")
        if "..." in term:
            widths.add(rest)
    if len(widths) > 1:
        raise malformed("its ellipses stand for different numbers of dimensions")
    dots = [f".{k}" for k in range(widths.pop() if widths else 0)]

    def spread(term: list[str]) -> list[str]:
        return [name for one in term for name in (dots if one == "..." else [one])]

    spelled = [spread(term) for term in terms]
    every = [name for term in spelled for name in term]
    if arrow:
        result_term = _term(right, equation)
        if dots and "..." not in result_term:
            raise malformed("the result leaves out the ellipsis")
        result = spread(result_term)
    else:
        result = dots + sorted(name for name in set(every) if every.count(name) == 1 and name not in dots)
    if len(set(result)) != len(result) or not set(result) <= set(every):
        raise malformed("the result has a letter twice, or one that no input has")
    label: dict[str, int] = {}
    for name in [*result, *every]:
        label.setdefault(name, len(label))
    return tuple(label[name] for name in [*every, *result])
