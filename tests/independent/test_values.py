"""The second interpreter's formats and arithmetic against ml_dtypes, numpy and IEEE 754, independent of our kernels."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.independent import arithmetic as a
from tests.independent import elements
from tests.independent.formats import FORMATS, INFINITY, NAN, decode, encode
from tests.independent.runtime import convert
from tests.independent.tensors import DTYPES, Tensor, from_array, to_array
from tests.independent.texts import number_of, text_of

SMALL = [name for name, form in FORMATS.items() if form.kind == "float" and form.bits <= 16]


@pytest.mark.parametrize("name", SMALL)
def test_every_code_is_the_number_that_others_say(name: str) -> None:
    form = FORMATS[name]
    codes = np.arange(1 << form.bits, dtype=np.uint16 if form.bits == 16 else np.uint8)
    numbers = codes.view(DTYPES[name]).astype(np.float64)
    for code, number in zip(codes.tolist(), numbers.tolist(), strict=True):
        value = decode(name, code)
        assert math.isnan(value) if math.isnan(number) else value == number
        if not math.isnan(number):
            assert encode(name, value) == code


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float", "double"])
def test_rounding_is_to_the_nearest_even(name: str) -> None:
    rng = np.random.default_rng(1)
    wide = rng.standard_normal(2000) * 10.0 ** rng.integers(-42, 40, 2000)
    with np.errstate(over="ignore"):
        narrow = wide.astype(DTYPES[name])
    codes = narrow.view(f"u{narrow.dtype.itemsize}").tolist()
    assert [encode(name, Fraction(x)) for x in wide.tolist()] == codes


def test_a_tie_goes_to_the_even_code_and_past_the_largest_to_infinity() -> None:
    assert encode("float16", Fraction(2049)) == encode("float16", 2048)
    assert encode("float16", Fraction(2051)) == encode("float16", 2052)
    assert decode("float16", encode("float16", 65519)) == 65504
    assert decode("float16", encode("float16", 65520)) == INFINITY


PAIRS = [0, -0.0, 1, -2, Fraction(1, 4), INFINITY, -INFINITY, NAN]


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_arithmetic_of_what_is_not_finite_is_that_of_ieee_754(name: str) -> None:
    known = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[name]
    for x in PAIRS:
        for y in PAIRS:
            with np.errstate(all="ignore"):
                right = float(known(np.float64(float(x)), np.float64(float(y))))
            made = getattr(a, name)(x, y)
            assert math.isnan(made) if math.isnan(right) else float(made) == right, (x, y)
            assert math.isnan(right) or a.is_negative(made) == (math.copysign(1, right) < 0), (x, y)


FUNCTIONS = "exp log sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf".split()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_those_of_the_library_to_two_ulp(name: str) -> None:
    """2 ulp is the largest error that the glibc manual lists for these functions."""
    for x in (0.0, 1.0, -1.0, 0.5, -3 / 7, 2.5, 2.0**-40):
        try:
            right = getattr(math, name)(x)
        except ValueError:
            continue
        assert abs(float(getattr(a, name)(Fraction(x))) - right) <= 2 * math.ulp(right), x


def test_a_sum_of_decimals_is_exact() -> None:
    assert a.total([Fraction("0.42"), Fraction("0.5"), Fraction("0.08")]) == 1


@pytest.mark.parametrize("name", [*DTYPES])
def test_arrays_come_back_as_they_were(name: str) -> None:
    array = (np.arange(6) % 2).reshape(2, 3).astype(DTYPES[name])
    tensor = from_array(array)
    assert tensor.type == name
    assert to_array(tensor).tobytes() == array.tobytes()
    assert to_array(Tensor(name, (0,), [])).shape == (0,)


def test_bits_of_complex_numbers_begin_with_the_real_part() -> None:
    assert elements.bits((0, Fraction(15, 8)), "complex64", "double") == 1
    assert elements.bits(1, "double", "complex64") == (0, Fraction(15, 8))


def test_sums_without_numbers() -> None:
    assert elements.of_type("bool").sum([True, True]) is True
    assert elements.of_type("complex64").sum([(1, -1), (2, 5)]) == (3, 4)
    assert elements.of_type("complex64").sum([]) == (0, 0)


def test_a_zero_that_no_format_has_is_the_smallest_number() -> None:
    assert encode("float8e8m0", elements.of_type("float8e8m0").of(0)) == 0


def test_an_element_is_a_number_of_its_type_before_it_is_converted() -> None:
    root = a.sqrt((1 << 62) - (1 << 32))  # (2^31 - 1)^2 - 1, whose root is nearer to 2^31 - 1 than doubles are
    assert root < (1 << 31) - 1
    assert convert(root, "double", "uint32") == (1 << 31) - 1
    assert convert(root, None, "uint32") == (1 << 31) - 2


def test_numbers_as_strings() -> None:
    numbers = [decode("float", encode("float", Fraction(x))) for x in ("0.1", "1e10", "-2.5", "1e-3")]
    assert [text_of(x, "float") for x in numbers] == ["0.1", "10000000000.0", "-2.5", "0.001"]
    assert [number_of(t, "float") for t in ("1.5", " -INF ", "1e2")] == [Fraction(3, 2), -INFINITY, 100]
