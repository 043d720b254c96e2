"""Element types: decodes codes of the file format to exact values and back, from spec/types.yaml alone.

A finite value other than -0.0 is an int or a Fraction; infinities, NaN and -0.0 are floats. Booleans are bool, strings
are str with surrogate escapes, complex numbers are pairs of values.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
MINUS_ZERO, NAN, INFINITY = -0.0, math.nan, math.inf


@dataclass(frozen=True)
class Format:
    name: str
    code: int
    bits: int
    kind: str
    signed: bool = False
    precision: int = 0
    bias: int = 0
    infinity: bool = False
    nan: str = "none"
    nan_code: int = 0
    overflow: str = ""
    zero: bool = True
    largest: Any = None
    enumerator: str = ""

    @property
    def lowest_integer(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def highest_integer(self) -> int:
        return (1 << (self.bits - self.signed)) - 1


def _read() -> dict[str, Format]:
    rows = yaml.safe_load((ROOT / "spec" / "types.yaml").read_text(encoding="utf-8"))["types"]
    for row in rows:
        if "largest" in row:
            row["largest"] = whole(Fraction(float(row["largest"])))
    return {row["name"]: Format(**row) for row in rows}


def whole(x: Fraction) -> int | Fraction:
    return x.numerator if x.denominator == 1 else x


FORMATS = _read()
BY_CODE = {each.code: each for each in FORMATS.values()}


def is_float(name: str) -> bool:
    return FORMATS[name].kind == "float"


def is_integer(name: str) -> bool:
    return FORMATS[name].kind == "integer"


# -- decode --------------------------------------------------------------------------------------------------------
@functools.lru_cache(maxsize=1 << 18)
def decode(name: str, code: int) -> Any:
    form = FORMATS[name]
    if form.kind == "bool":
        return code != 0
    if form.kind == "integer":
        return code - (1 << form.bits) if form.signed and code >> (form.bits - 1) else code
    if not form.zero:  # float8e8m0, which has only powers of two
        return NAN if code == form.nan_code else power_of_two(code - form.bias)
    top = 1 << (form.bits - 1)
    negative, rest = bool(code & top), code & (top - 1)
    mantissa_bits = form.precision - 1
    field, mantissa = rest >> mantissa_bits, rest & ((1 << mantissa_bits) - 1)
    ones = (1 << (form.bits - 1 - mantissa_bits)) - 1
    if form.nan == "minus_zero" and code == top:
        return NAN
    if form.nan == "all_ones" and rest == top - 1 or form.nan == "ieee" and field == ones and mantissa:
        return math.copysign(NAN, -1.0 if negative else 1.0)
    if form.infinity and field == ones:
        return -INFINITY if negative else INFINITY
    if rest == 0:
        return MINUS_ZERO if negative else 0
    exponent = max(field, 1) - form.bias - mantissa_bits
    value = (mantissa + (1 << mantissa_bits) if field else mantissa) * power_of_two(exponent)
    value = whole(Fraction(value))
    return -value if negative else value


def power_of_two(k: int) -> int | Fraction:
    return 1 << k if k >= 0 else Fraction(1, 1 << -k)


# -- encode --------------------------------------------------------------------------------------------------------
def exponent_of(x: Fraction | int) -> int:
    """The e with 2^e <= x < 2^(e+1), for positive x."""
    top, bottom = x.numerator, x.denominator
    e = top.bit_length() - bottom.bit_length()
    below = top < bottom << e if e >= 0 else top << -e < bottom
    return e - 1 if below else e


def nearest_even(x: Fraction | int) -> int:
    """Rounds to the nearest integer, ties to even."""
    top, bottom = x.numerator, x.denominator
    floor, rest = divmod(top, bottom)
    twice = 2 * rest
    return floor + (twice > bottom or (twice == bottom and floor & 1))


def nearest_away(x: Fraction | int) -> int:
    """Rounds a non-negative number to the nearest integer, ties up."""
    return (2 * x.numerator + x.denominator) // (2 * x.denominator)


def towards_zero(x: Fraction | int) -> int:
    return x.numerator // x.denominator if x >= 0 else -(-x.numerator // x.denominator)


def toward_ceiling(x: Fraction | int) -> int:
    return -(-x.numerator // x.denominator)


ROUNDINGS = {"nearest": nearest_even, "nearest_up": nearest_away, "up": toward_ceiling, "down": towards_zero}


def encode(name: str, value: Any, saturate: bool = False, rounding: str = "nearest") -> int:
    form = FORMATS[name]
    if form.kind == "bool":
        return 1 if value != 0 else 0
    if form.kind == "integer":
        return encode_integer(form, value, saturate)
    if not form.zero:
        return encode_scale(form, value, saturate, ROUNDINGS[rounding])
    top = 1 << (form.bits - 1)
    if isinstance(value, float):
        sign = top if math.copysign(1.0, value) < 0 else 0
        if value == 0:
            return 0 if form.nan == "minus_zero" else sign
        return sign | form.nan_code if math.isnan(value) else overflowed(form, sign, saturate)
    sign, size = (top, -value) if value < 0 else (0, value)
    if size == 0:
        return 0
    m, q = rounded(form, size, ROUNDINGS[rounding])
    if m * power_of_two(q) > form.largest:
        return overflowed(form, sign, saturate)
    if m == 0:
        return 0 if form.nan == "minus_zero" else sign
    return sign | finite_code(form, m, q)


def rounded(form: Format, size: Fraction | int, to_integer: Any) -> tuple[int, int]:
    """m and q such that m * 2^q is the nearest number, as if the format had no largest one."""
    q = max(exponent_of(size), 1 - form.bias) - (form.precision - 1)
    scaled = size * power_of_two(-q)
    return to_integer(scaled), q


def finite_code(form: Format, m: int, q: int) -> int:
    hidden = 1 << (form.precision - 1)
    if m < hidden:
        return m  # subnormal: q is the smallest exponent
    field = q + form.precision - 1 + form.bias
    return (field << (form.precision - 1)) + (m - hidden)


def largest_code(form: Format) -> int:
    return finite_code(form, *rounded(form, form.largest, nearest_even))


def overflowed(form: Format, sign: int, saturate: bool) -> int:
    if saturate or form.overflow == "largest":
        return sign | largest_code(form)
    if form.overflow == "nan":
        return sign | form.nan_code
    return sign | ((1 << (form.bits - 1)) - (1 << (form.precision - 1)))


def encode_scale(form: Format, value: Any, saturate: bool, to_integer: Any) -> int:
    """Encodes float8e8m0, which has no sign and no zero. Below the smallest power it rounds as if one more existed."""
    if isinstance(value, float) and math.isnan(value) or value < 0:
        return form.nan_code
    if value == INFINITY:
        return form.nan_code - 1 if saturate else form.nan_code
    less = 0 if saturate else form.nan_code
    if value == 0:
        return less
    e = exponent_of(value)
    e += to_integer(Fraction(value) * power_of_two(-e)) - 1
    if e < -form.bias:
        return less
    if e + form.bias >= form.nan_code:
        return form.nan_code - 1 if saturate else form.nan_code
    return e + form.bias


def encode_integer(form: Format, value: Any, saturate: bool) -> int:
    mask = (1 << form.bits) - 1
    if isinstance(value, float):
        if not saturate or not math.isinf(value):
            return 0
        return (form.highest_integer if value > 0 else form.lowest_integer) & mask
    if value.__class__ is not int:
        value = towards_zero(value)
    if saturate:
        value = min(max(value, form.lowest_integer), form.highest_integer)
    return value & mask


def fit(name: str, value: Any, saturate: bool = False, rounding: str = "nearest") -> Any:
    """Rounds `value` to an element of the type."""
    return decode(name, encode(name, value, saturate, rounding))
