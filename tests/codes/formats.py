"""Element types as the standard describes them, and exact arithmetic on their values.

Independent of spec/types.yaml and core/numbers, which these tests check. A value follows from the formula of its
format, a code from a comparison of exact values. Values that binary64 holds exactly use it; all others are Fractions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from onnx import TensorProto


@dataclass(frozen=True)
class Float:
    """A float format: sign, exponent and mantissa from the top bit down.

    `infinity` is true if the format has infinities. `nan` names the codes of NaN: ieee (all exponent bits set, mantissa
    not 0), all_ones (all bits but the sign), minus_zero (the code of -0), none.
    """

    exponent: int
    mantissa: int
    bias: int
    infinity: bool = False
    nan: str = "none"
    sign: bool = True

    @property
    def bits(self) -> int:
        return self.sign + self.exponent + self.mantissa


FLOATS = {
    "float": Float(8, 23, 127, True, "ieee"),
    "double": Float(11, 52, 1023, True, "ieee"),
    "float16": Float(5, 10, 15, True, "ieee"),
    "bfloat16": Float(8, 7, 127, True, "ieee"),
    "float8e4m3fn": Float(4, 3, 7, False, "all_ones"),
    "float8e4m3fnuz": Float(4, 3, 8, False, "minus_zero"),
    "float8e5m2": Float(5, 2, 15, True, "ieee"),
    "float8e5m2fnuz": Float(5, 2, 16, False, "minus_zero"),
    "float8e8m0": Float(8, 0, 127, False, "all_ones", sign=False),
    "float6e2m3": Float(2, 3, 1),
    "float6e3m2": Float(3, 2, 3),
    "float4e2m1": Float(2, 1, 1),
}
INTEGERS = {f"{sign}int{bits}": bits for bits in (2, 4, 8, 16, 32, 64) for sign in ("", "u")}
BITS = {
    **{name: form.bits for name, form in FLOATS.items()},
    **INTEGERS,
    "bool": 8,
    "complex64": 64,
    "complex128": 128,
}
NAMES = {code: name.lower() for name, code in TensorProto.DataType.items()}
CODES = {name: code for code, name in NAMES.items()}
SMALL = [name for name, bits in BITS.items() if bits <= 8]
FLOAT8 = [name for name in SMALL if name.startswith("float8")]


def holder(name: str) -> np.dtype:
    """The numpy type that stores one code."""
    if name == "string":
        return np.dtype(object)
    bits = max(8, BITS[name])
    return np.dtype("V16") if bits == 128 else np.dtype(f"u{bits // 8}")


def all_codes(name: str) -> np.ndarray:
    """Every code of a type of at most 16 bits."""
    return np.arange(2 if name == "bool" else 1 << BITS[name], dtype=np.uint64).astype(holder(name))


def limits(name: str) -> tuple[int, int]:
    """The smallest and the largest integer of a type."""
    bits = INTEGERS[name]
    return (0, (1 << bits) - 1) if name[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)


def integers(name: str, codes: np.ndarray) -> list[int]:
    """The values of codes of an integer type or bool."""
    low, high = (0, 1) if name == "bool" else limits(name)
    return [code if code <= high else code - (high - low + 1) for code in codes.ravel().tolist()]


def codes_of(name: str, values: list[int]) -> np.ndarray:
    """The codes of integers modulo 2^bits."""
    mask = (1 << INTEGERS[name]) - 1
    return np.array([value & mask for value in values], dtype=np.uint64).astype(holder(name))


@cache
def float_values(name: str) -> np.ndarray:
    """The value of every code of a float type of at most 16 bits."""
    form = FLOATS[name]
    codes = np.arange(1 << form.bits)
    magnitude = codes & ((1 << form.exponent + form.mantissa) - 1)
    field, rest = magnitude >> form.mantissa, (magnitude & ((1 << form.mantissa) - 1)) / 2.0**form.mantissa
    # float8e8m0, the one format without a sign, has no zero and no subnormal numbers
    subnormal = (field == 0) & form.sign
    values = np.where(subnormal, np.ldexp(rest, 1 - form.bias), np.ldexp(1 + rest, field - form.bias))
    full = magnitude == (1 << form.exponent + form.mantissa) - 1
    top = field == (1 << form.exponent) - 1
    if form.infinity:
        values[top & (rest == 0)] = np.inf
    if form.nan == "ieee":
        values[top & (rest != 0)] = np.nan
    elif form.nan == "all_ones":
        values[full] = np.nan
    values = np.where(codes != magnitude, -values, values)
    if form.nan == "minus_zero":
        values[1 << form.bits - 1] = np.nan
    return values


def floats(name: str, codes: np.ndarray) -> np.ndarray:
    """The values of codes of a float type, in binary64."""
    if name in ("float", "double"):
        with np.errstate(invalid="ignore"):  # the conversion makes a signaling NaN quiet
            return codes.view(np.float32 if name == "float" else np.float64).astype(np.float64)
    return float_values(name)[codes]


@cache
def magnitudes(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The finite values from 0 up of a float type of at most 16 bits, ascending, and the midpoints between them.

    One more value follows the largest: the next one if the format continued.
    """
    form = FLOATS[name]
    values = float_values(name)[: 1 << form.exponent + form.mantissa]
    values = values[np.isfinite(values)]
    after = values[-1] * 2 if form.mantissa == 0 else 2 * values[-1] - values[-2]
    values = np.append(values, after)
    return values, (values[1:] + values[:-1]) / 2


def nearest(name: str, value: Fraction) -> Fraction:
    """The nearest number of a signed format, ties to even, as if the format had no largest number."""
    form = FLOATS[name]
    if value == 0:
        return value
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    step = Fraction(2) ** (max(exponent, 1 - form.bias) - form.mantissa)
    return round(value / step) * step  # round of a Fraction rounds ties to even


def largest(name: str) -> Fraction:
    form = FLOATS[name]
    if BITS[name] <= 16:
        return Fraction(magnitudes(name)[0][-2])
    return Fraction(float(np.finfo(np.float32 if name == "float" else np.float64).max)) if form else Fraction(0)


def is_nan(name: str, codes: np.ndarray) -> np.ndarray:
    """True for each NaN, of any type; a complex number is NaN if either part is."""
    if name.startswith("complex"):
        part = "float" if name == "complex64" else "double"
        return is_nan(part, codes.view(holder(part))).reshape(*codes.shape, 2).any(-1)
    return np.isnan(floats(name, codes)) if name in FLOATS else np.zeros(codes.shape, bool)


def special_floats(name: str) -> np.ndarray:
    """Codes of a float type: all codes up to 16 bits, else boundary values, and NaN with payloads and signs."""
    if BITS[name] <= 16:
        return all_codes(name)
    form = FLOATS[name]
    one = form.bias << form.mantissa
    top = ((1 << form.exponent) - 1) << form.mantissa
    positive = [0, 1, 2, (1 << form.mantissa) - 1, 1 << form.mantissa]
    positive += [one - 1, one, one + 1, one + (1 << form.mantissa)]
    positive += [top - 1, top, top + 1, top + 12345, top | 1 << form.mantissa - 1, (top << 1 | 1 << form.mantissa) - 1]
    sign = 1 << form.bits - 1
    positive = [code & (sign - 1) for code in positive]
    return np.array(positive + [code | sign for code in positive], dtype=holder(name))
