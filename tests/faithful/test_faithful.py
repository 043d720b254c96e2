"""A sample of what `python -m tests.faithful` checks in full: faithful computations are accepted, others are refused.

Also checks the parts of the numpy runtime: fused products round once, sums are sums, polynomials are within their
error.
"""

from __future__ import annotations

import os
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from tests.faithful.arithmetic import SUMS
from tests.faithful.judging import judged
from tests.faithful.libm import Nearest, Simd, fma
from tests.faithful.registry import OPERATORS
from tests.faithful.report import NEITHER
from tests.faithful.table import FORMS
from tests.faithful.values import REGIMES, Draw, tensor

JOBS = max(1, len(os.sched_getaffinity(0)))
CARELESS = "python:tests.faithful.target:Careless"


def test_a_sample_is_accepted() -> None:
    found = judged(FORMS, every=41, jobs=JOBS)
    assert {one.form for one in found} >= FORMS.keys() - {"measure"}
    refused = [f"{one.name}: {one.verdict} {one.detail}" for one in found if one.refused]
    assert not refused, f"{len(refused)} of {len(found)}:\n" + "\n".join(refused[:40])


def test_the_careless_are_refused() -> None:
    found = judged(["contract", "normalise"], every=61, target=CARELESS, jobs=JOBS)
    found = [one for one in found if one.type == "float" and one.regime == "real" and one.verdict not in NEITHER]
    assert found
    assert [one.name for one in found if not one.refused] == []


def test_every_operator_here_has_a_case() -> None:
    assert {row.op for rows in FORMS.values() for row in rows()} == OPERATORS.keys()


def test_a_fused_product_is_rounded_once() -> None:
    a, b = (Draw("fma", name, (2000,)).normal().astype(np.float32) for name in "ab")
    c = np.concatenate([-(a[:1000] * b[:1000]), Draw("fma", "c", (1000,)).normal().astype(np.float32)])
    exact = [Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)) for x, y, z in zip(a, b, c, strict=True)]
    for value, found in zip(exact, fma(a, b, c), strict=True):
        near = [Fraction(float(np.nextafter(found, np.float32(way)))) for way in (-np.inf, np.inf)]
        assert all(abs(Fraction(float(found)) - value) <= abs(other - value) for other in near)


@pytest.mark.parametrize("name", SUMS)
def test_a_sum_is_a_sum(name: str) -> None:
    rows = tensor("sum", "x", "x", (5, 37), "whole", "float")
    assert SUMS[name](rows).tolist() == rows.astype(np.int64).sum(axis=-1).tolist()


@pytest.mark.parametrize("name", ["exp", "tanh", "erf"])
def test_the_polynomials_are_within_four_units(name: str) -> None:
    reach = {"exp": 80, "tanh": 10, "erf": 5}[name]
    x = (reach * (2 * Draw("simd", name, (4000,)).uniform() - 1)).astype(np.float32)
    function, made = getattr(mpmath, name), Simd().call(name, x)
    for argument, value in zip(x, made, strict=True):
        exact = function(mpmath.mpf(float(argument)))
        assert abs(mpmath.mpf(float(value)) - exact) <= 4 * mpmath.mpf(float(np.spacing(np.float32(abs(exact)))))


def test_the_nearest_is_the_nearest() -> None:
    x = Draw("nearest", "x", (200,)).normal().astype(np.float32)
    for argument, value in zip(x, Nearest().call("exp", x), strict=True):
        exact = mpmath.exp(mpmath.mpf(float(argument)))
        assert abs(mpmath.mpf(float(value)) - exact) <= mpmath.mpf(float(np.spacing(value))) / 2


def test_data_do_not_depend_on_what_else_is_drawn() -> None:
    for regime in REGIMES:
        first, again = (tensor("c", "x", "x", (3, 7), regime, "float") for _ in range(2))
        assert first.tobytes() == again.tobytes()
        assert regime == "constant" or np.unique(first[np.isfinite(first)]).size > 1
