"""Operators that select by order or combine elements: integers past double's precision, full bytes, zeros, infinities,
NaN.

NaN counts as larger than any number (questions of the order of NaN in TopK, and of NaN in ArgMax), and zeros are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import add, mul
from pathlib import Path

import numpy as np
import pytest

from tests.codes.formats import FLOATS, INTEGERS, codes_of, holder, integers, limits
from tests.codes.graphs import Codes, Graph, int64s
from tests.codes.operands import allowed, integers_in, numbers, samples, special_integers, versions
from tests.codes.test_moves import payload

UNSUPPORTED = 4


def keys(value: Codes) -> list[tuple[bool, float]]:
    """Keys that sort like the elements."""
    if value.type in INTEGERS:
        return [(False, number) for number in integers(value.type, value.codes)]
    return [(number != number, 0.0 if number != number else number) for number in numbers(value).ravel().tolist()]


def shuffled(name: str, twice: bool = True) -> Codes:
    """All samples in random order, each one twice unless `twice` is false."""
    value = samples(name)
    places = np.random.default_rng(9).permutation(np.tile(np.arange(value.codes.size), 2 if twice else 1))
    return value.at(places)


@pytest.mark.parametrize("since", versions("ArgMax"))
def test_positions_of_extremes(since: int, folder: Path) -> None:
    """ArgMax and ArgMin of each window of three: the first of equals, or the last with select_last_index."""
    graph = Graph(since)
    for name in allowed("ArgMax", since, "T"):
        row = shuffled(name)
        table = Codes(name, np.stack([row.codes, np.roll(row.codes, 1), np.roll(row.codes, 2)], axis=1))
        ranked = keys(table)
        rows = [ranked[k : k + 3] for k in range(0, len(ranked), 3)]
        fed = graph.feed(table)
        for op, best in (("ArgMax", max), ("ArgMin", min)):
            first = [one.index(extreme(one, best)) for one in rows]
            graph.want(op, [fed], int64s(first), axis=1, keepdims=0)
            if since >= 12:
                last = [2 - one[::-1].index(extreme(one, best)) for one in rows]
                graph.want(op, [fed], int64s(last), axis=1, keepdims=0, select_last_index=1)
    graph.check(folder)


def extreme(row: list[tuple[bool, float]], best: Callable) -> tuple[bool, float]:
    """The extreme of a row; a NaN is both the largest and the smallest."""
    return max(row) if any(nan for nan, _ in row) else best(row)


@pytest.mark.parametrize("since", versions("TopK"))
def test_top_k(since: int, folder: Path) -> None:
    """TopK of all elements, so that every pair of neighbors is ordered; the first of equals comes first."""
    graph = Graph(since)
    for name in allowed("TopK", since, "T"):
        row = shuffled(name)
        ranked = keys(row)
        falling = np.array([k for _, _, k in sorted((not nan, -number, k) for k, (nan, number) in enumerate(ranked))])
        rising = np.array([k for _, _, k in sorted((nan, number, k) for k, (nan, number) in enumerate(ranked))])
        fed = graph.feed(row)
        inputs, said = ([fed], {"k": len(ranked)}) if since < 10 else ([fed, graph.hold(int64s([len(ranked)]))], {})
        graph.want("TopK", inputs, row.at(falling), int64s(falling), **said)
        if since >= 11:
            graph.want("TopK", inputs, row.at(rising), int64s(rising), largest=0)
    graph.check(folder)


@pytest.mark.parametrize("op", ["ScatterElements", "ScatterND"])
def test_combining_scatters(op: str, folder: Path) -> None:
    """Scatters three integer updates to each element: sums and products modulo 2^n, and extremes."""
    ways: list[tuple[str, Callable[[int, int], int]]] = [("add", add), ("mul", mul), ("max", max), ("min", min)]
    for since in (16, 18):
        graph = Graph(since)
        for name in integers_in(allowed(op, since, "T")):
            values = special_integers(name)
            n = len(values)
            updates = [values[(7 * k + 3) % n] for k in range(3 * n)]
            places = np.arange(3 * n) % n
            indices = int64s(places.tolist() if op == "ScatterElements" else places[:, None].tolist())
            inputs = [Codes(name, codes_of(name, values)), graph.hold(indices), Codes(name, codes_of(name, updates))]
            fed = [one if isinstance(one, str) else graph.feed(one) for one in inputs]
            for way, combine in ways if since >= 18 else ways[:2]:
                made = list(values)
                for place, update in zip(places.tolist(), updates, strict=True):
                    made[place] = combine(made[place], update)
                graph.want(op, fed, Codes(name, codes_of(name, made)), reduction=way)
        (folder / str(since)).mkdir()
        graph.check(folder / str(since))


def test_products_by_letters(folder: Path) -> None:
    """Einsum: outer and inner products of integers modulo 2^n."""
    graph = Graph(12)
    for name in integers_in(allowed("Einsum", 12, "T")):
        values = special_integers(name)
        row = graph.feed(Codes(name, codes_of(name, values)))
        outer = codes_of(name, [x * y for x in values for y in values]).reshape(len(values), -1)
        graph.want("Einsum", [row, row], Codes(name, outer), equation="i,j->ij")
        inner = codes_of(name, [sum(x * x for x in values)]).reshape(())
        graph.want("Einsum", [row, row], Codes(name, inner), equation="i,i->")
        cubes = codes_of(name, [x * x * x for x in values])
        graph.want("Einsum", [row, row, row], Codes(name, cubes), equation="i,i,i->i")
    graph.check(folder)


@pytest.mark.parametrize("name", ["int16", "int32", "int64"])
def test_range(name: str, folder: Path) -> None:
    low, high = limits(name)
    graph = Graph(11)
    rows = [(high - 5, high, 1), (low + 5, low, -2), (low, low + 3, 1), (-4, 4, 3), (high, high - 1, -1), (3, 3, 1)]
    if name == "int64":
        rows += [(2**53 - 2, 2**53 + 5, 1), (-(2**53) - 4, -(2**53) + 4, 3), (2**62, 2**62 + 7, 3)]
    for start, limit, delta in rows:
        inputs = [graph.hold(Codes(name, codes_of(name, [one]).reshape(()))) for one in (start, limit, delta)]
        graph.want("Range", inputs, Codes(name, codes_of(name, list(range(start, limit, delta)))))
    graph.check(folder)


@pytest.mark.parametrize("since", versions("NonZero"))
def test_what_is_not_zero(since: int, folder: Path) -> None:
    """NonZero: neither zero counts; every NaN does, and every string but the empty one."""
    graph = Graph(since)
    for name in allowed("NonZero", since, "T"):
        value = payload(name)
        if name == "string":
            there = np.array([text != b"" for text in value.codes.ravel()]).reshape(value.codes.shape)
        elif name.startswith("complex"):
            part = holder("float" if name == "complex64" else "double")
            there = (value.codes.view(part).reshape(*value.codes.shape, 2) << part.type(1) != 0).any(-1)
        else:
            signed = name in FLOATS
            there = value.codes << value.codes.dtype.type(1) != 0 if signed else value.codes != 0
        graph.want("NonZero", [value], int64s(np.array(np.nonzero(there)).tolist()))
    graph.check(folder)


@pytest.mark.parametrize("since", versions("Unique"))
def test_unique(since: int, folder: Path) -> None:
    """Unique on integers and strings, sorted and in order of appearance."""
    graph = Graph(since)
    for name in [*integers_in(allowed("Unique", since, "T")), "string"]:
        row = payload(name) if name == "string" else shuffled(name)
        row = Codes(name, row.codes.ravel())
        values = row.codes.tolist() if name == "string" else integers(name, row.codes)
        fed = graph.feed(row)
        for ordered in (1, 0):
            kept = sorted(set(values)) if ordered else list(dict.fromkeys(values))
            first = [values.index(one) for one in kept]
            where = {one: k for k, one in enumerate(kept)}
            others = [first, [where[one] for one in values], [values.count(one) for one in kept]]
            graph.want("Unique", [fed], row.at(np.array(first)), *(int64s(one) for one in others), sorted=ordered)
    if graph.run(folder).returncode == UNSUPPORTED:
        pytest.skip("it has no meaning yet")
    graph.check(folder)
