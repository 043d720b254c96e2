"""Reductions, running sums and matmuls: integers modulo 2^n, all products of 8-bit codes, special floats.

Rows of floats hold two numbers, so that no order of additions is left open.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import accumulate
from operator import add, mul
from pathlib import Path

import numpy as np
import pytest

from tests.codes.formats import FLOATS, INTEGERS, all_codes, codes_of, integers, limits
from tests.codes.graphs import Codes, Graph, int64s
from tests.codes.operands import allowed, integers_in, on_floats, pairs, samples, special_integers, versions

WHOLE: dict[str, Callable[[list[int]], int]] = {
    "ReduceSum": sum,
    "ReduceProd": math.prod,
    "ReduceMax": max,
    "ReduceMin": min,
    "ReduceL1": lambda row: sum(abs(x) for x in row),
    "ReduceSumSquare": lambda row: sum(x * x for x in row),
}
REAL = {"ReduceSum": np.add, "ReduceProd": np.multiply, "ReduceMax": np.maximum, "ReduceMin": np.minimum}


def axes(graph: Graph, op: str, axis: int) -> tuple[list[str], dict[str, list[int]]]:
    """The axes of a reduction as this version takes them: an input or an attribute."""
    since = max(since for since in versions(op) if since <= graph.opset)
    if since >= (13 if op == "ReduceSum" else 18):
        return [graph.hold(int64s([axis]))], {}
    return [], {"axes": [axis]}


def rows_of_integers(name: str) -> Codes:
    """Rows of five integers, far enough apart that sums and products overflow."""
    values = special_integers(name)
    if len(values) > 120:
        values = values[::3] + values[-2:]
    rows = [[values[(k * step + 3 * k) % len(values)] for step in range(1, 6)] for k in range(len(values))]
    return Codes(name, codes_of(name, [x for row in rows for x in row]).reshape(-1, 5))


@pytest.mark.parametrize("op", WHOLE)
def test_reduction(op: str, folder: Path) -> None:
    """Each version reduces rows of integers and pairs of special floats; the newest also all pairs of 8-bit codes."""
    for since in versions(op):
        graph = Graph(since)
        for name in allowed(op, since, "T"):
            if name in INTEGERS:
                tables = [rows_of_integers(name)]
                if name in ("int8", "uint8") and since == versions(op)[-1]:
                    tables.append(side_by_side(*pairs(name)))
                for table in tables:
                    more, said = axes(graph, op, 1)
                    made = [WHOLE[op](integers(name, row)) for row in table.codes]
                    wanted = Codes(name, codes_of(name, made).reshape(-1, 1))
                    graph.want(op, [graph.feed(table), *more], wanted, **said)
            elif name in FLOATS and op in REAL:
                left, right = pairs(name)
                more, said = axes(graph, op, 1)
                made = on_floats(REAL[op], name, left, right).codes.reshape(-1, 1)
                table = graph.feed(side_by_side(left, right))
                graph.want(op, [table, *more], Codes(name, made), any_zero=True, **said)
        (folder / str(since)).mkdir()
        graph.check(folder / str(since))


def side_by_side(left: Codes, right: Codes) -> Codes:
    return Codes(left.type, np.stack([left.codes, right.codes], axis=1))


def test_truths_reduced(folder: Path) -> None:
    graph = Graph(20)
    rows = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], np.uint8)
    for op, compute in (("ReduceMax", np.max), ("ReduceMin", np.min)):
        more, said = axes(graph, op, 1)
        wanted = Codes("bool", compute(rows, axis=1, keepdims=True))
        graph.want(op, [graph.feed(Codes("bool", rows)), *more], wanted, **said)
    graph.check(folder)


@pytest.mark.parametrize(("op", "since"), [("CumSum", 11), ("CumSum", 14), ("CumProd", 26)])
def test_running_results(op: str, since: int, folder: Path) -> None:
    graph = Graph(since)
    step, start = {"CumSum": (add, 0), "CumProd": (mul, 1)}[op]
    axis = graph.hold(int64s(0))
    for name in integers_in(allowed(op, since, "T")):
        values = integers(name, samples(name).codes)
        for reverse in (0, 1):
            ordered = values[::-1] if reverse else values
            made = list(accumulate(ordered, step, initial=start))
            for exclusive in (0, 1):
                kept = made[:-1] if exclusive else made[1:]
                wanted = Codes(name, codes_of(name, kept[::-1] if reverse else kept))
                graph.want(op, [samples(name), axis], wanted, reverse=reverse, exclusive=exclusive)
    graph.check(folder)


@pytest.mark.parametrize("left", ["uint8", "int8"])
@pytest.mark.parametrize("right", ["uint8", "int8"])
def test_all_products_of_bytes(left: str, right: str, folder: Path) -> None:
    """MatMulInteger with zero points at the ends of each type; the sums of a long row wrap modulo 2^32."""
    graph = Graph(10)
    a, b = integers(left, all_codes(left)), integers(right, all_codes(right))
    column, row = Codes(left, all_codes(left).reshape(256, 1)), Codes(right, all_codes(right).reshape(1, 256))
    fed = [graph.feed(column), graph.feed(row)]
    for p, q in ((None, None), (limits(left)[0], limits(right)[1]), (limits(left)[1], limits(right)[0]), (3, 5)):
        zeros = [] if p is None else [scalar(left, p), scalar(right, q)]
        made = [(x - (p or 0)) * (y - (q or 0)) for x in a for y in b]
        graph.want("MatMulInteger", [*fed, *zeros], Codes("int32", codes_of("int32", made).reshape(256, 256)))
    length = 40000
    most = max(a, key=abs) * max(b, key=abs) * length
    long = [
        np.full(shape, max(limits(t), key=abs) % 256, np.uint8) for t, shape in ((left, (1, length)), (right, length))
    ]
    inputs = [Codes(left, long[0]), Codes(right, long[1].reshape(length, 1))]
    graph.want("MatMulInteger", inputs, Codes("int32", codes_of("int32", [most]).reshape(1, 1)))
    graph.check(folder)


def scalar(name: str, value: int) -> Codes:
    return Codes(name, codes_of(name, [value]).reshape(()))


@pytest.mark.parametrize("op", ["MatMul", "Gemm"])
def test_matrices_of_wide_integers(op: str, folder: Path) -> None:
    graph = Graph(13)
    for name in integers_in(allowed(op, 13, "T")):
        values = special_integers(name)
        left = [values, values[::-1]]
        right = [values, values[3:] + values[:3]]
        made = [
            sum(row[k] * column[k] for k in (0, 1))
            for row in zip(*left, strict=True)
            for column in zip(*right, strict=True)
        ]
        n = len(values)
        a = Codes(name, codes_of(name, [x for row in zip(*left, strict=True) for x in row]).reshape(n, 2))
        b = Codes(name, codes_of(name, right[0] + right[1]).reshape(2, n))
        graph.want(op, [a, b], Codes(name, codes_of(name, made).reshape(n, n)))
    graph.check(folder)
