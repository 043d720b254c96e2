"""Comparisons, min/max, Where and logic: all pairs of 8-bit integers, integers past double's precision, -0, infinities,
NaN.
"""

from __future__ import annotations

import operator
from pathlib import Path

import numpy as np
import pytest

from tests.codes.formats import BITS, FLOATS, INTEGERS, all_codes, floats
from tests.codes.graphs import NEWEST, Codes, Graph
from tests.codes.operands import allowed, crossed, numbers, on_floats, on_integers, pairs, samples, stored, versions

COMPARISONS = {
    "Equal": operator.eq,
    "Greater": operator.gt,
    "GreaterOrEqual": operator.ge,
    "Less": operator.lt,
    "LessOrEqual": operator.le,
}
LOGIC = {"And": operator.and_, "Or": operator.or_, "Xor": operator.xor}


@pytest.mark.parametrize("op", COMPARISONS)
def test_comparison(op: str, folder: Path) -> None:
    graph = Graph()
    for name in allowed(op, versions(op)[-1], "T"):
        if name != "string":
            compare_all(graph, op, name)
    graph.check(folder)


@pytest.mark.parametrize("since", sorted({since for op in COMPARISONS for since in versions(op)}))
def test_comparison_by_each_version(since: int, folder: Path) -> None:
    graph = Graph(since)
    for op in COMPARISONS:
        if since in versions(op):
            for name in allowed(op, since, "T"):
                if name != "string":
                    compare_all(graph, op, name)
    graph.check(folder)


def compare_all(graph: Graph, op: str, name: str) -> None:
    left, right = pairs(name)
    compute = on_floats if name in FLOATS else on_integers
    graph.want(op, [left, right], compute(COMPARISONS[op], "bool", left, right))


def test_equality_of_texts(folder: Path) -> None:
    texts = Codes("string", np.array([b"", b"a", b"A", b"ab", "ä".encode(), "a\u0308".encode(), b"a\0b"], object))
    left, right = crossed(texts, texts)
    graph = Graph()
    graph.want("Equal", [left, right], Codes("bool", (left.codes == right.codes).astype(np.uint8)))
    graph.check(folder)


@pytest.mark.parametrize("since", [since for since in versions("Max")])
def test_extremes(since: int, folder: Path) -> None:
    """Min and Max of two and of three operands; a NaN among them wins (the question of NaN in Max and Min)."""
    graph = Graph(since)
    for name in allowed("Max", since, "T"):
        left, right = pairs(name)
        third = left.at(np.roll(np.arange(left.codes.size), 7))
        inputs = [graph.feed(one) for one in (left, right, third)]
        for op, whole, real in (("Max", max, np.maximum), ("Min", min, np.minimum)):
            if name in INTEGERS:
                graph.want(op, inputs[:2], on_integers(whole, name, left, right))
                graph.want(op, inputs, on_integers(whole, name, left, right, third))
            else:
                first = on_floats(real, name, left, right)
                graph.want(op, inputs[:2], first, any_zero=True)
                graph.want(op, inputs, on_floats(real, name, first, third), any_zero=True)
    graph.check(folder)


@pytest.mark.parametrize("since", versions("Sign"))
def test_sign(since: int, folder: Path) -> None:
    graph = Graph(since)
    for name in allowed("Sign", since, "T"):
        value = samples(name)
        if name in INTEGERS:
            graph.want("Sign", [value], on_integers(lambda x: (x > 0) - (x < 0), name, value))
        else:
            graph.want("Sign", [value], on_floats(np.sign, name, value), any_zero=True)
    graph.check(folder)


@pytest.mark.parametrize("opset", [9, 10, 13, 20, NEWEST])
def test_nan_and_infinity(opset: int, folder: Path) -> None:
    """IsNaN and IsInf on every code of the types of up to 16 bits."""
    graph = Graph(opset)
    for op in ("IsNaN", "IsInf"):
        since = max([one for one in versions(op) if one <= opset], default=None)
        for name in allowed(op, since, "T1") if since else []:
            value = Codes(name, all_codes(name)) if BITS[name] <= 16 else samples(name)
            exact = floats(name, value.codes)
            fed = graph.feed(value)
            if op == "IsNaN":
                graph.want(op, [fed], stored(np.isnan(exact), "bool"))
                continue
            for up, down in ((None, None), (0, 1), (1, 0), (0, 0)):
                found = ((exact == np.inf) & (up != 0)) | ((exact == -np.inf) & (down != 0))
                graph.want(op, [fed], stored(found, "bool"), detect_positive=up, detect_negative=down)
    graph.check(folder)


@pytest.mark.parametrize("opset", [1, 7])
def test_logic(opset: int, folder: Path) -> None:
    graph = Graph(opset)
    left, right = pairs("bool")
    for op, compute in LOGIC.items():
        graph.want(op, [left, right], on_integers(compute, "bool", left, right))
    graph.want("Not", [left], on_integers(lambda x: 1 - x, "bool", left))
    graph.check(folder)


def test_numpy_agrees_about_floats() -> None:
    """The witness compares narrow floats as float32, which must not change any comparison."""
    left, right = pairs("float16")
    with np.errstate(invalid="ignore"):
        narrow = left.codes.view(np.float16) < right.codes.view(np.float16)
        assert np.array_equal(narrow, numbers(left) < numbers(right))
