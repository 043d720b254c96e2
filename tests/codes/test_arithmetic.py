"""Arithmetic: all pairs of 8-bit integers, larger ones modulo 2^n, and pairs of floats that include -0, infinities, NaN
and ends.

Integers are compared with Python's, floats with numpy's: narrow ones are computed in float32, then rounded once.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.codes.formats import BITS, FLOATS, INTEGERS, all_codes, codes_of, integers, limits
from tests.codes.graphs import Codes, Graph
from tests.codes.operands import (
    allowed,
    floats_in,
    integers_in,
    kept,
    numbers,
    on_floats,
    on_integers,
    pairs,
    samples,
    stored,
    versions,
)

Whole = Callable[..., int]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def towards_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    """The remainder with the sign of the dividend, as C's fmod."""
    return a - towards_zero(a, b) * b


BINARY = {"Add": operator.add, "Sub": operator.sub, "Mul": operator.mul}


@pytest.mark.parametrize("since", versions("Add"))
def test_add_sub_mul_div(since: int, folder: Path) -> None:
    graph = Graph(since)
    for name in allowed("Add", since, "T"):
        left, right = pairs(name)
        fed = [graph.feed(left), graph.feed(right)]
        if name in FLOATS:
            for op, compute in (*BINARY.items(), ("Div", np.divide)):
                graph.want(op, fed, on_floats(compute, name, left, right))
            continue
        for op, compute in BINARY.items():
            graph.want(op, fed, on_integers(compute, name, left, right))
        left, right = kept(left, right, lambda a, b: b != 0)
        graph.want("Div", [left, right], on_integers(towards_zero, name, left, right))
    graph.check(folder)


@pytest.mark.parametrize("since", versions("Mod"))
def test_mod(since: int, folder: Path) -> None:
    graph = Graph(since)
    for name in integers_in(allowed("Mod", since, "T")):
        left, right = kept(*pairs(name), lambda a, b: b != 0)
        fed = [graph.feed(left), graph.feed(right)]
        graph.want("Mod", fed, on_integers(operator.mod, name, left, right))
        graph.want("Mod", fed, on_integers(remainder, name, left, right), fmod=1)
    for name in floats_in(allowed("Mod", since, "T")):
        left, right = pairs(name)
        graph.want("Mod", [left, right], on_floats(np.fmod, name, left, right), fmod=1)
    graph.check(folder)


@pytest.mark.parametrize("since", versions("Pow"))
def test_pow(since: int, folder: Path) -> None:
    """Integer powers modulo 2^n; for floats only exact results: powers of two, and the special cases of C's pow."""
    graph = Graph(since)
    bases = allowed("Pow", since, "T")
    for name in bases:
        for other in allowed("Pow", since, "T1") if since >= 12 else [name]:
            if name in FLOATS:
                left, right = powers_of_two(name, other)
                graph.want("Pow", [left, right], on_floats(np.power, name, left, as_power(right, name)))
            elif other in INTEGERS:
                powers = [0, 1, 2, 3, 5, 31, 32, 62, 63, 64, 127, limits(other)[1], limits(other)[1] - 1]
                powers = [power for power in powers if power <= limits(other)[1]]
                base = [0, 1, 2, 3, -1, -2, 10, *limits(name)]
                left = Codes(name, codes_of(name, [x for x in base for _ in powers]))
                right = Codes(other, codes_of(other, powers * len(base)))
                modulus = 1 << BITS[name]
                made = [pow(x, p, modulus) for x, p in zip(integers(name, left.codes), powers * len(base), strict=True)]
                graph.want("Pow", [left, right], Codes(name, codes_of(name, made)))
    graph.check(folder)


@pytest.mark.parametrize("power", ["int64", "uint64"])
def test_whether_a_wide_power_is_odd(power: str, folder: Path) -> None:
    """The result's sign depends on the parity of the power, which double cannot represent past 2^53."""
    powers = [2**53 - 1, 2**53, 2**53 + 1, 2**62 + 1, limits(power)[1], limits(power)[1] - 1]
    base = np.array([-1, 1, -2, 0.5, -0.5, -0.0, -np.inf], np.float64)
    sizes = [1, 1, np.inf, 0, 0, 0, np.inf]
    made = [np.copysign(size, x if p % 2 else 1) for x, size in zip(base, sizes, strict=True) for p in powers]
    graph = Graph(15)
    for name in floats_in(allowed("Pow", 15, "T")):
        right = Codes(power, codes_of(power, powers * base.size))
        graph.want("Pow", [stored(np.repeat(base, len(powers)), name), right], stored(np.array(made), name))
    graph.check(folder)


def powers_of_two(name: str, other: str) -> tuple[Codes, Codes]:
    """Bases and powers whose results are exact."""
    base = np.array([0, -0.0, 1, -1, 2, -2, 0.5, -0.25, np.inf, -np.inf, np.nan], np.float64)
    if other in FLOATS:
        power = np.array([0, -0.0, 1, -1, 2, -2, 3, -3, 4, np.inf, -np.inf, np.nan], np.float64)
        right = stored(np.tile(power, base.size), other)
    else:
        whole = [x for x in (0, 1, -1, 2, -2, 3, -3, 4) if x >= limits(other)[0]]
        right = Codes(other, codes_of(other, whole * base.size))
    return stored(np.repeat(base, right.codes.size // base.size), name), right


def as_power(value: Codes, name: str) -> Codes:
    """Small numbers, exact in every float type."""
    if value.type in FLOATS:
        return stored(numbers(value).astype(np.float64), name)
    return stored(np.array(integers(value.type, value.codes), np.float64), name)


@pytest.mark.parametrize("op", ["Neg", "Abs"])
@pytest.mark.parametrize("since", versions("Neg"))
def test_neg_and_abs(op: str, since: int, folder: Path) -> None:
    """The smallest integer is its own negative; for a float only the sign bit changes."""
    graph = Graph(since)
    whole, real = {"Neg": (operator.neg, np.negative), "Abs": (abs, np.abs)}[op]
    for name in allowed(op, since, "T"):
        value = samples(name)
        wanted = on_floats(real, name, value) if name in FLOATS else on_integers(whole, name, value)
        graph.want(op, [value], wanted)
    graph.check(folder)


def test_bitwise(folder: Path) -> None:
    graph = Graph(18)
    for name in allowed("BitwiseAnd", 18, "T"):
        left, right = pairs(name)
        fed = [graph.feed(left), graph.feed(right)]
        for op, compute in (("And", operator.and_), ("Or", operator.or_), ("Xor", operator.xor)):
            graph.want(f"Bitwise{op}", fed, on_integers(compute, name, left, right))
        graph.want("BitwiseNot", fed[:1], on_integers(operator.invert, name, left))
    graph.check(folder)


@pytest.mark.parametrize("since", versions("BitShift"))
def test_bit_shift(since: int, folder: Path) -> None:
    """Shifts by any non-negative count; past the width the result is 0 or the sign (the question of shifts past the
    width).
    """
    graph = Graph(since)
    for name in allowed("BitShift", since, "T"):
        left, right = kept(*pairs(name), lambda a, b: b >= 0)
        fed = [graph.feed(left), graph.feed(right)]
        graph.want("BitShift", fed, on_integers(lambda a, n: a << min(n, 64), name, left, right), direction="LEFT")
        graph.want("BitShift", fed, on_integers(lambda a, n: a >> min(n, 64), name, left, right), direction="RIGHT")
    graph.check(folder)


@pytest.mark.parametrize("since", versions("Sum"))
def test_sum_and_mean(since: int, folder: Path) -> None:
    """Two operands at most, so that no order of additions is left open. A sum may start from zero, so its zeros have
    either sign.
    """
    graph = Graph(since)
    for name in allowed("Sum", since, "T"):
        left, right = pairs(name)
        fed = [graph.feed(left), graph.feed(right)]
        graph.want("Sum", fed, on_floats(np.add, name, left, right), any_zero=True)
        graph.want("Mean", fed, on_floats(lambda a, b: (a + b) / a.dtype.type(2), name, left, right), any_zero=True)
        graph.want("Sum", fed[:1], left, any_zero=True)
    graph.check(folder)


@pytest.mark.parametrize("since", [since for since in versions("Clip") if since >= 11])
def test_clip(since: int, folder: Path) -> None:
    """Crossed limits give the upper one, and NaN stays (questions of crossed bounds, and of NaN in Relu and Clip)."""
    graph = Graph(since)
    for name in allowed("Clip", since, "T"):
        value = samples(name)
        fed = graph.feed(value)
        if name in INTEGERS:
            low, high = limits(name)
            rows = [(low, high), (low + 3, high - 3), (high - 1, high), (low, low), (high, low), (3, 2)]
            for least, most in rows:
                ends = [Codes(name, codes_of(name, [end]).reshape(())) for end in (least, most)]
                wanted = on_integers(lambda x, a=least, b=most: min(max(x, a), b), name, value)
                graph.want("Clip", [fed, *ends], wanted)
            graph.want("Clip", [fed], value)
        else:
            for least, most in ((-1.0, 1.0), (0.0, 0.0), (2.0, -2.0), (-np.inf, np.inf), (-np.inf, -1.0)):
                ends = [stored(np.array([end], np.float64), name) for end in (least, most)]
                ends = [Codes(name, end.codes.reshape(())) for end in ends]
                wanted = on_floats(lambda x, a=least, b=most: clipped(x, a, b), name, value)
                graph.want("Clip", [fed, *ends], wanted, any_zero=True)
    graph.check(folder)


def clipped(x: np.ndarray, least: float, most: float) -> np.ndarray:
    return np.minimum(np.maximum(x, x.dtype.type(least)), x.dtype.type(most))


EXACT = {  # operators that round at most once
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Round": np.rint,
    "Sqrt": np.sqrt,
    "Reciprocal": lambda x: x.dtype.type(1) / x,
}


@pytest.mark.parametrize("op", EXACT)
def test_functions_that_round_once(op: str, folder: Path) -> None:
    """Every code of the 16-bit types; for the others special values, multiples of 0.5 and their neighbors."""
    halves = np.arange(-9, 10) / 2
    beside = np.concatenate([halves, np.nextafter(halves, 9), np.nextafter(halves, -9), [2.0**52 + 0.5, 2.0**23 + 0.5]])
    for since in versions(op):
        graph = Graph(since)
        for name in allowed(op, since, "T"):
            value = Codes(name, all_codes(name)) if BITS[name] == 16 else samples(name)
            for one in (value, stored(beside, name)):
                graph.want(op, [one], on_floats(EXACT[op], name, one))
        (folder / str(since)).mkdir()
        graph.check(folder / str(since))


@pytest.mark.parametrize("since", versions("Relu"))
def test_relu(since: int, folder: Path) -> None:
    graph = Graph(since)
    for name in allowed("Relu", since, "T"):
        value = samples(name)
        if name in INTEGERS:
            graph.want("Relu", [value], on_integers(lambda x: max(x, 0), name, value))
        else:
            graph.want("Relu", [value], on_floats(lambda x: clipped(x, 0, np.inf), name, value), any_zero=True)
    graph.check(folder)
