"""Compares every conversion of core/numbers/ with numpy, ml_dtypes and onnx, through the filter numbers_probe."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx.numpy_helper
import pytest

PROBE = Path(os.environ["TOUCHSTONE_BUILD"]) / "core" / "numbers_probe"
SMALL_FLOATS = {
    "float16": (np.float16, 16),
    "bfloat16": (ml_dtypes.bfloat16, 16),
    "float8e4m3fn": (ml_dtypes.float8_e4m3fn, 8),
    "float8e4m3fnuz": (ml_dtypes.float8_e4m3fnuz, 8),
    "float8e5m2": (ml_dtypes.float8_e5m2, 8),
    "float8e5m2fnuz": (ml_dtypes.float8_e5m2fnuz, 8),
    "float8e8m0": (ml_dtypes.float8_e8m0fnu, 8),
    "float6e2m3": (ml_dtypes.float6_e2m3fn, 6),
    "float6e3m2": (ml_dtypes.float6_e3m2fn, 6),
    "float4e2m1": (ml_dtypes.float4_e2m1fn, 4),
}
SMALL_INTEGERS = {
    "int4": (ml_dtypes.int4, 4),
    "uint4": (ml_dtypes.uint4, 4),
    "int2": (ml_dtypes.int2, 2),
    "uint2": (ml_dtypes.uint2, 2),
    "int8": (np.int8, 8),
    "uint8": (np.uint8, 8),
    "int16": (np.int16, 16),
    "uint16": (np.uint16, 16),
}
FLOAT8 = [name for name in SMALL_FLOATS if name.startswith("float8") and name != "float8e8m0"]
SIGNED_FLOATS = [name for name in SMALL_FLOATS if name != "float8e8m0"]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Silences numpy's warnings: overflow and NaN are tested here on purpose."""
    with np.errstate(all="ignore"):
        yield


def probe(values: np.ndarray, result: type, *words: str) -> np.ndarray:
    done = subprocess.run([PROBE, *words], input=values.tobytes(), capture_output=True, check=True)
    out = np.frombuffer(done.stdout, dtype=result)
    assert out.size == values.size > 0
    return out


def decode(name: str, codes: np.ndarray) -> np.ndarray:
    return probe(codes.astype(np.uint64), np.longdouble, "decode", name)


def encode(name: str, values: np.ndarray, saturate: str = "no", rounding: str = "nearest_even") -> np.ndarray:
    return probe(values.astype(np.longdouble), np.uint64, "encode", name, saturate, rounding)


def all_codes(bits: int) -> np.ndarray:
    return np.arange(1 << bits, dtype=np.uint64)


def viewed(codes: np.ndarray, dtype: np.dtype, bits: int) -> np.ndarray:
    return codes.astype(np.uint16 if bits == 16 else np.uint8).view(dtype)


def code_of(values: np.ndarray, bits: int) -> np.ndarray:
    codes = values.view(np.uint16 if bits == 16 else np.uint8).astype(np.uint64)
    return codes & np.uint64((1 << bits) - 1)


def same(actual: np.ndarray, expected: np.ndarray) -> bool:
    """True if equal bit for bit, except for the payload of a NaN."""
    both_nan = np.isnan(actual) & np.isnan(expected)
    return bool(np.all(both_nan | ((actual == expected) & (np.signbit(actual) == np.signbit(expected)))))


def finite_magnitudes(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The finite values >= 0 of a format in rising order, and their codes."""
    dtype, bits = SMALL_FLOATS[name]
    codes = all_codes(bits if name == "float8e8m0" else bits - 1)
    values = viewed(codes, dtype, bits).astype(np.float64)
    kept = np.isfinite(values)
    assert np.all(np.diff(values[kept]) > 0)
    return values[kept], codes[kept]


def as_floats(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float32)


def systematic(name: str) -> np.ndarray:
    """Every value of the format, every midpoint, an ulp of double on both sides, past the ends, random patterns."""
    values, _ = finite_magnitudes(name)
    steps = np.diff(values)
    ends = [
        values[0] / 2,
        values[-1] + steps[-1] / 2,
        values[-1] + steps[-1],
        values[-1] * 4,
        values[-1] * 2**20,
        5e-324,
        1e308,
    ]
    edges = np.concatenate([values, (values[1:] + values[:-1]) / 2, np.array(ends)])
    edges = np.concatenate([edges, np.nextafter(edges, np.inf), np.nextafter(edges, 0)])
    random = np.random.default_rng(1)
    patterns = random.integers(0, 1 << 64, 65536, dtype=np.uint64).view(np.float64)
    narrow = random.integers(0, 1 << 32, 65536, dtype=np.uint64).astype(np.uint32).view(np.float32).astype(np.float64)
    inside = np.exp2(random.uniform(np.log2(max(values[0], values[1] / 8)), np.log2(values[-1]) + 1, 65536))
    specials = np.array([0.0, np.inf, np.nan])
    magnitudes = np.abs(np.concatenate([edges, patterns, narrow, inside, specials]))
    return np.concatenate([magnitudes, -magnitudes])


def nearest_even(name: str, values: np.ndarray) -> np.ndarray:
    """Codes of the nearest finite magnitude, ties to the even code; one past the largest on overflow."""
    table, codes = finite_magnitudes(name)
    table = np.append(table, 2 * table[-1] - table[-2])  # the next value, if the format had one
    codes = np.append(codes, codes[-1] + np.uint64(1))
    middles = (table[1:] + table[:-1]) / 2  # exact: one bit more than the format
    magnitudes = np.abs(values)
    below = np.searchsorted(middles, magnitudes, side="left")  # a tie counts towards its lower neighbor
    tied = (below < middles.size) & (magnitudes == middles[np.minimum(below, middles.size - 1)])
    return np.where(tied & (codes[below] % 2 == 1), codes[np.minimum(below + 1, codes.size - 1)], codes[below])


@pytest.mark.parametrize("name", [*SMALL_FLOATS, *SMALL_INTEGERS])
def test_every_code_decodes_to_its_value(name: str) -> None:
    dtype, bits = (SMALL_FLOATS | SMALL_INTEGERS)[name]
    codes = all_codes(bits)
    if bits < 8 and name in SMALL_INTEGERS:  # ml_dtypes requires the sign extended
        expected = codes.astype(np.int64)
        if name.startswith("int"):
            expected = np.where(expected >= 1 << (bits - 1), expected - (1 << bits), expected)
        assert np.array_equal(expected.astype(dtype).astype(np.int64), expected)
    else:
        expected = viewed(codes, dtype, bits).astype(np.float64)
    assert same(decode(name, codes), expected.astype(np.longdouble))


@pytest.mark.parametrize("name", SIGNED_FLOATS)
def test_rounding_is_to_nearest_even(name: str) -> None:
    bits = SMALL_FLOATS[name][1]
    values = systematic(name)
    finite = values[np.isfinite(values)]
    _, codes = finite_magnitudes(name)
    expected = nearest_even(name, finite)
    fits = expected <= codes[-1]
    signs = np.where(np.signbit(finite), np.uint64(1 << (bits - 1)), np.uint64(0))
    if name.endswith("fnuz"):
        signs[expected == 0] = 0
    assert fits.sum() > 65536 and (~fits).sum() > 1000
    assert np.array_equal(encode(name, finite[fits]), (expected | signs)[fits])
    assert np.array_equal(encode(name, finite[~fits], "yes"), (codes[-1] | signs)[~fits])


@pytest.mark.parametrize("name", SIGNED_FLOATS)
def test_floats_convert_as_in_ml_dtypes(name: str) -> None:
    """Covers overflow, infinities and NaN. Inputs are floats, since ml_dtypes may round a double twice."""
    dtype, bits = SMALL_FLOATS[name]
    values = as_floats(systematic(name))
    expected = values.astype(dtype)
    nan = np.isnan(values)
    actual = encode(name, values)
    assert np.array_equal(actual[~nan], code_of(expected, bits)[~nan])
    read = viewed(actual, dtype, bits).astype(np.float32)[nan]
    has_nan = name.startswith(("float16", "bfloat16", "float8"))
    assert np.all(np.isnan(read)) if has_nan else np.all(read == 0)


@pytest.mark.parametrize("name", FLOAT8)
def test_float8_saturates_as_in_onnx(name: str) -> None:
    dtype, bits = SMALL_FLOATS[name]
    values = as_floats(systematic(name))
    values = values[~np.isnan(values)]
    expected = onnx.numpy_helper.saturate_cast(values, dtype)
    assert np.array_equal(encode(name, values, "yes"), code_of(expected, bits))
    assert np.all(np.isnan(decode(name, encode(name, np.array([np.nan, -np.nan]), "yes"))))


@pytest.mark.parametrize("saturate", ["yes", "no"])
@pytest.mark.parametrize(("rounding", "mode"), [("nearest_up", "nearest"), ("up", "up"), ("down", "down")])
def test_float8e8m0_rounds_as_in_onnx(saturate: str, rounding: str, mode: str) -> None:
    """Covers normal floats only; below them onnx's helper reads a subnormal's bits as if they were normal."""
    values = as_floats(systematic("float8e8m0"))
    values = values[(values >= 2.0**-126) & np.isfinite(values)]
    expected = onnx.numpy_helper.to_float8e8m0(values, saturate == "yes", mode).view(np.uint8)
    assert np.array_equal(encode("float8e8m0", values, saturate, rounding), expected.astype(np.uint64))


def test_float8e8m0_nearest_even_is_that_of_ml_dtypes() -> None:
    """Ties go up: the significand's only bit is odd. Normal floats only; ml_dtypes rounds 1.1 * 2**-127 to 2**-126."""
    values = as_floats(systematic("float8e8m0"))
    values = values[values >= 2.0**-126]
    expected = values.astype(ml_dtypes.float8_e8m0fnu).view(np.uint8)
    assert np.array_equal(encode("float8e8m0", values), expected.astype(np.uint64))


def test_float8e8m0_outside_its_range() -> None:
    least, nan, largest = 0, 255, 254
    tiny = 2.0**-127
    rows = [  # value, saturating up, not saturating to nearest
        (0.0, least, nan),
        (-0.0, least, nan),
        (np.nan, nan, nan),
        (np.inf, largest, nan),
        (-1.0, nan, nan),
        (2.0**128, largest, nan),
        (tiny / 4, least, nan),
        (tiny, least, least),
        (tiny * 0.76, least, least),
        (tiny * 0.74, least, nan),
        (tiny / 2, least, nan),
    ]
    values, up, nearest = (np.array(column) for column in zip(*rows, strict=True))
    assert encode("float8e8m0", values, "yes", "up").tolist() == up.tolist()
    assert encode("float8e8m0", values, "no", "nearest_up").tolist() == nearest.tolist()
    below = np.array([tiny * 0.99, tiny * 0.51, tiny / 2, tiny * 0.26, tiny / 4, 1e-300])
    assert encode("float8e8m0", below, "no", "up").tolist() == [least, least, nan, nan, nan, nan]
    assert encode("float8e8m0", below, "yes", "up").tolist() == [least] * 6


@pytest.mark.parametrize(("name", "dtype"), [("float", np.float32), ("double", np.float64)])
def test_float_and_double_round_as_the_hardware(name: str, dtype: type) -> None:
    random = np.random.default_rng(2)
    unsigned = np.uint32 if dtype is np.float32 else np.uint64
    patterns = random.integers(0, 1 << (32 if dtype is np.float32 else 64), 65536, dtype=np.uint64)
    exact = patterns.astype(unsigned).view(dtype)
    exact = exact[np.isfinite(exact)]
    middle = (exact.astype(np.longdouble) + np.nextafter(exact, dtype(np.inf)).astype(np.longdouble)) / 2
    spread = np.longdouble(2) ** random.uniform(-1090, 1030, 65536)
    odd = (1 + random.integers(0, 1 << 62, 65536).astype(np.longdouble) / (1 << 62)) * spread
    ends = np.array([0.0, -0.0, np.inf, -np.inf], dtype=np.longdouble)
    values = np.concatenate([exact, middle, np.nextafter(middle, np.longdouble(np.inf)), odd, -odd, ends])
    rounded = values.astype(dtype)
    expected = rounded.view(unsigned).astype(np.uint64)
    assert np.array_equal(encode(name, values), expected)
    assert same(decode(name, expected), rounded.astype(np.longdouble))


@pytest.mark.parametrize("name", [*SMALL_INTEGERS, "int32", "uint32", "int64", "uint64"])
def test_integers_truncate_then_wrap_or_saturate(name: str) -> None:
    bits = int(name.lstrip("uint"))
    low, high = (0, 2**bits - 1) if name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    random = np.random.default_rng(3)
    wide = (random.random(20000) - 0.5) * np.exp2(random.uniform(0, 80, 20000))
    values = np.concatenate([wide, np.arange(-400, 400) / 2, np.array([low, high], dtype=np.float64)])
    whole = [int(value) for value in values]
    mask = (1 << bits) - 1
    assert encode(name, values).tolist() == [number & mask for number in whole]
    assert encode(name, values, "yes").tolist() == [min(max(number, low), high) & mask for number in whole]
    specials = np.array([np.nan, np.inf, -np.inf])
    assert encode(name, specials).tolist() == [0, 0, 0]
    assert encode(name, specials, "yes").tolist() == [0, high & mask, low & mask]


@pytest.mark.parametrize("name", SMALL_INTEGERS)
def test_small_integers_wrap_as_in_ml_dtypes(name: str) -> None:
    dtype, bits = SMALL_INTEGERS[name]
    values = np.arange(-120, 120).astype(np.float32)
    expected = values.astype(np.int32).astype(dtype)
    assert np.array_equal(encode(name, values), code_of(expected, bits))


@pytest.mark.parametrize("name", ["int32", "uint32", "int64", "uint64"])
def test_wide_integers_decode(name: str) -> None:
    bits = int(name.lstrip("uint"))
    codes = np.random.default_rng(4).integers(0, 1 << 64, 20000, dtype=np.uint64) >> np.uint64(64 - bits)
    codes = np.append(codes, np.array([0, 1 << (bits - 1), (1 << bits) - 1], dtype=np.uint64))
    expected = codes.astype(np.dtype(name.replace("int", "uint").replace("uuint", "uint"))).view(name)
    assert np.array_equal(decode(name, codes), expected.astype(np.longdouble))
    assert np.array_equal(encode(name, decode(name, codes)), codes)


def test_bool_is_what_is_not_zero() -> None:
    assert encode("bool", np.array([0.0, -0.0, 1e-310, np.nan, -np.inf, 2.0])).tolist() == [0, 0, 1, 1, 1, 1]
    assert decode("bool", np.array([0, 1, 2, 255])).tolist() == [0, 1, 1, 1]
