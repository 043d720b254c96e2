"""Dequantization of every code of each quantized type, and quantization at and next to every midpoint between codes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.codes.casting import cast
from tests.codes.formats import BITS, FLOATS, all_codes, codes_of, floats, integers, limits, magnitudes
from tests.codes.graphs import NEWEST, Codes, Graph
from tests.codes.operands import allowed, samples, stored, versions

SCALES = (0.5, 4.0)  # exact in every type of scales


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def one(name: str, value: float) -> Codes:
    if name in FLOATS:
        return Codes(name, stored(np.array([value], np.float64), name).codes.reshape(()))
    return Codes(name, codes_of(name, [int(value)]).reshape(()))


def values(name: str, codes: np.ndarray) -> np.ndarray:
    return floats(name, codes) if name in FLOATS else np.array(integers(name, codes), np.float64)


@pytest.mark.parametrize("since", versions("DequantizeLinear"))
def test_every_code_back(since: int, folder: Path) -> None:
    """The difference is exact and the product is rounded once, also for scales that are no power of two."""
    graph = Graph(since)
    for name in allowed("DequantizeLinear", since, "T1" if since >= 19 else "T"):
        if BITS[name] > 16:
            continue
        value = Codes(name, all_codes(name)) if BITS[name] <= 8 else samples(name)
        fed = graph.feed(value)
        points = [None, 0, 1, *limits(name)] if name not in FLOATS else [None, 0]
        scales = allowed("DequantizeLinear", since, "T2") if since >= 19 else ["float"]
        for scale in scales:
            for by in (0.5, 0.1, 3.0):
                if scale == "float8e8m0":
                    continue
                scaled = one(scale, by)
                for point in points:
                    more = [] if point is None else [one(name, point)]
                    minus = 0 if point is None else point
                    exact = values(name, value.codes).astype(np.float32) - np.float32(minus)
                    made = exact * floats(scale, scaled.codes).astype(np.float32)
                    graph.want("DequantizeLinear", [fed, scaled, *more], stored(made, scale))
    graph.check(folder)


def test_every_scale_of_powers_of_two(folder: Path) -> None:
    """Dequantizes with every code of float8e8m0 as scale."""
    graph = Graph(NEWEST)
    codes = Codes("int8", np.array([1, 0xFD, 127, 0x80, 0], np.uint8))
    for code in all_codes("float8e8m0"):
        scale = Codes("float8e8m0", code.reshape(()))
        made = values("int8", codes.codes).astype(np.float32) * floats("float8e8m0", scale.codes).astype(np.float32)
        graph.want("DequantizeLinear", [codes, scale], stored(made, "float"), output_dtype=1)
    graph.check(folder)


def between(name: str, source: str, scale: float, point: int) -> Codes:
    """Inputs that quantize to, just below and just above each midpoint between codes, past the ends, and zeros."""
    if name in FLOATS:
        middles = np.concatenate(magnitudes(name))
        middles = np.concatenate([middles, -middles])
    else:
        low, high = limits(name)
        middles = np.arange(low - 2, high + 3) - point + 0.5
        middles = np.concatenate([middles, middles - 0.5])
        if middles.size > 3000:
            middles = np.concatenate([middles[:40], middles[-40:], middles[:: middles.size // 2000]])
    numbers = middles * scale
    if source == "float":
        numbers = numbers.astype(np.float32)
        near = [numbers, np.nextafter(numbers, np.float32(np.inf)), np.nextafter(numbers, np.float32(-np.inf))]
        ends = np.array([0, -0.0, 1e30, -1e30, np.inf, -np.inf], np.float32)
        return stored(np.concatenate([*near, ends]), source)
    return stored(np.concatenate([numbers, [0, -0.0, np.inf, -np.inf]]), source)


def quantised(value: Codes, name: str, scale: float, point: int, saturate: int) -> Codes:
    """The expected codes. Scales are powers of two, so the division is exact except for irrelevantly small numbers."""
    divided = floats(value.type, value.codes) / scale
    if name in FLOATS:
        return cast(Codes("double", divided.view(np.uint64)), name, saturate, "up")
    low, high = limits(name)
    made = np.clip(np.round(divided) + point, low, high)
    return Codes(name, codes_of(name, made.astype(np.int64).tolist()))


@pytest.mark.parametrize("since", versions("QuantizeLinear"))
def test_halfway(since: int, folder: Path) -> None:
    graph = Graph(since)
    targets = allowed("QuantizeLinear", since, "T3" if since >= 23 else "T2")
    sources = [name for name in allowed("QuantizeLinear", since, "T1") if name in FLOATS]
    for name in targets:
        points = [0] if name in FLOATS else sorted({0, 1, *limits(name)})
        for source in sources:
            for scale in SCALES:
                for point in points:
                    value = between(name, source, scale, point)
                    by = one("float" if since < 19 else source, scale)
                    for saturate in (None, 0) if name.startswith("float8") else (None,):
                        wanted = quantised(value, name, scale, point, 1 if saturate is None else 0)
                        inputs = [value, by, one(name, point)]
                        graph.want("QuantizeLinear", inputs, wanted, saturate=saturate, any_zero=name in FLOATS)
    graph.check(folder)


@pytest.mark.parametrize("since", versions("QuantizeLinear"))
def test_whole_numbers_quantised(since: int, folder: Path) -> None:
    """Quantizes int32, midpoints included, by a scale of two; versions 19 and 21 take the scale in the input's type."""
    graph = Graph(since)
    value = Codes("int32", codes_of("int32", [*range(-600, 600), 2**24, -(2**24), 2**31 - 1, -(2**31)]))
    for name in ("uint8", "int8"):
        for point in (0, 7):
            wanted = quantised(
                Codes("double", np.array(integers("int32", value.codes), float).view(np.uint64)), name, 2, point, 1
            )
            graph.want(
                "QuantizeLinear", [value, one("int32" if 19 <= since < 23 else "float", 2), one(name, point)], wanted
            )
    graph.check(folder)
