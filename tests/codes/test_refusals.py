"""Mutants of the outputs in the other tests: one element of each output is corrupted, and the judge must refuse each
node.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.codes.casting import cast
from tests.codes.formats import CODES, FLOATS, INTEGERS, all_codes, floats, integers
from tests.codes.graphs import Codes, Graph, has_judge
from tests.codes.moves import AT, gives
from tests.codes.operands import allowed, on_floats, on_integers, pairs
from tests.codes.test_moves import payload

pytestmark = pytest.mark.skipif(not has_judge(), reason="this build has no judge")


def casts() -> Graph:
    graph = Graph()
    for source in ("uint8", "float8e4m3fn", "int4", "float4e2m1", "float16"):
        value = Codes(source, all_codes(source))
        fed = graph.feed(value)
        for to in [*INTEGERS, *FLOATS, "bool"]:
            if to not in (source, "float8e8m0"):
                made = cast(value, to)
                # A float that does not fit an integer may give any value: Q011.
                fits = np.trunc(numbers(value)) == numbers(made) if source in FLOATS and to in INTEGERS else None
                graph.want("Cast", [fed], made, settled=fits, to=CODES[to])
    return graph


def numbers(value: Codes) -> np.ndarray:
    if value.type in FLOATS:
        return floats(value.type, value.codes).ravel()
    return np.array(integers(value.type, value.codes.ravel()), dtype=np.float64)


def moves() -> Graph:
    graph = Graph(25)
    for name in allowed("Transpose", 25, "T"):
        value = payload(name)
        gives(graph, "Transpose", [graph.feed(value)], value, AT.T)
    return graph


def sums() -> Graph:
    graph = Graph(14)
    for name in ("int8", "uint8", "int64", "uint64", "float", "double", "float16", "bfloat16"):
        left, right = pairs(name)
        fed = [graph.feed(left), graph.feed(right)]
        compute = on_floats if name in FLOATS else on_integers
        graph.want("Add", fed, compute(lambda a, b: a + b, name, left, right))
        graph.want("Greater", fed, compute(lambda a, b: a > b, "bool", left, right))
    return graph


@pytest.mark.parametrize("make", [casts, moves, sums])
def test_a_wrong_element_is_refused(make: object, folder: Path) -> None:
    graph = make()
    with np.errstate(all="ignore"):
        graph.check(folder)
    passed = graph.spoil(folder)
    assert not passed, f"{len(passed)} of {len(graph.wanted)}:\n" + "\n".join(passed)
