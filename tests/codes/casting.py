"""Expected results of Cast, written from the standard's text alone and independent of the project's own code.

Where the text is silent, the project's rulings apply, by the subjects of spec/questions. Floats that do not fit an
integer keep the low bits of their truncated value; NaN and infinities become 0. NaN in float4 and float6 becomes -0.
For float8e8m0, a number is rounded first; `saturate` alone decides a result out of range, and a number below zero
becomes NaN.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tests.codes.formats import (
    BITS,
    FLOATS,
    INTEGERS,
    codes_of,
    floats,
    holder,
    integers,
    largest,
    limits,
    magnitudes,
    nearest,
)
from tests.codes.graphs import Codes

EXACT = 1 << 53


class Binades(NamedTuple):
    """Positive numbers by binade: the exponent, and flags for values above 2^exponent, and for those at or past the
    point halfway to the next power.
    """

    exponent: np.ndarray
    above: np.ndarray
    half: np.ndarray


def cast(value: Codes, to: str, saturate: int = 1, round_mode: str = "up") -> Codes:
    name, codes = value.type, value.codes
    if to == name:
        return value
    if name in FLOATS:
        numbers = floats(name, codes).ravel()
        made = from_floats(numbers, to, saturate, round_mode)
    else:
        whole = integers(name, codes)
        if to == "bool":
            made = np.array([number != 0 for number in whole], np.uint8)
        elif to in INTEGERS:
            made = codes_of(to, whole)
        elif all(abs(number) <= EXACT for number in whole):
            made = from_floats(np.array(whole, np.float64), to, saturate, round_mode)
        else:
            made = np.array([from_integer(number, to, saturate, round_mode) for number in whole], holder(to))
    return Codes(to, made.reshape(codes.shape))


def from_floats(numbers: np.ndarray, to: str, saturate: int, round_mode: str) -> np.ndarray:
    if to == "bool":
        return (numbers != 0).astype(np.uint8)
    if to in INTEGERS:
        kept = np.where(np.isfinite(numbers), numbers, 0).tolist()
        return codes_of(to, [int(number) for number in kept])
    if to == "double":
        return numbers.view(np.uint64)
    if to == "float":
        return numbers.astype(np.float32).view(np.uint32)
    if to == "float8e8m0":
        fraction, exponent = np.frexp(numbers)
        binades = Binades(exponent - 1, fraction > 0.5, fraction >= 0.75)
        return to_scale(numbers, binades, saturate, round_mode)
    form = FLOATS[to]
    values, middles = magnitudes(to)
    size = np.abs(numbers)
    code = np.searchsorted(middles, size, side="left")  # a point halfway rounds down ...
    tied = size == np.append(middles, np.inf)[code]
    code = np.where(tied & (code % 2 == 1), code + 1, code)  # ... unless the code above is the even one
    past = (code >= values.size - 1) & ~np.isnan(numbers)
    beyond, nan = ends(to, saturate)
    code = np.where(past, beyond, code)
    code = np.where(np.isnan(numbers), nan, code)
    sign = np.where(np.signbit(numbers), 1 << form.bits - 1, 0)
    if form.nan == "minus_zero":
        sign[(code == 0) | (code == nan)] = 0
    elif form.nan == "none":
        sign[np.isnan(numbers)] = 1 << form.bits - 1
    return (code | sign).astype(holder(to))


def ends(to: str, saturate: int) -> tuple[int, int]:
    """The codes, without their sign, for values past the largest finite one, and for NaN."""
    form = FLOATS[to]
    top = ((1 << form.exponent) - 1) << form.mantissa
    greatest = len(magnitudes(to)[0]) - 2
    quiet = top | 1 << max(form.mantissa - 1, 0)
    nan = {
        "ieee": quiet,
        "all_ones": (1 << form.exponent + form.mantissa) - 1,
        "minus_zero": 1 << form.bits - 1,
        "none": 0,
    }
    if form.nan == "none" or (saturate and form.bits == 8):
        return greatest, nan[form.nan]
    return top if form.infinity else nan[form.nan], nan[form.nan]


def to_scale(numbers: np.ndarray, binades: Binades, saturate: int, round_mode: str) -> np.ndarray:
    """Casts to float8e8m0: powers of two from 2^-127 to 2^127, and NaN."""
    least, greatest, nan = 0, 254, 255
    steps = {"up": binades.above, "down": np.zeros_like(binades.above), "nearest": binades.half}[round_mode]
    code = binades.exponent + steps + 127
    code = np.where(code < 0, least if saturate else nan, code)
    code = np.where(code > greatest, greatest if saturate else nan, code)
    code = np.where(numbers == 0, least if saturate else nan, code)
    code = np.where(numbers == np.inf, greatest if saturate else nan, code)
    return np.where(np.isnan(numbers) | (numbers < 0), nan, code).astype(np.uint8)


def from_integer(number: int, to: str, saturate: int, round_mode: str) -> int:
    """Casts an integer of up to 64 bits by exact arithmetic."""
    form = FLOATS[to]
    if to == "float8e8m0":
        exponent = max(abs(number).bit_length() - 1, 0)
        rest = 2 * (abs(number) - (1 << exponent))
        binades = Binades(*(np.array([part]) for part in (exponent, rest > 0, rest >= 1 << exponent)))
        return int(to_scale(np.array([float(number)]), binades, saturate, round_mode)[0])
    sign = (1 << form.bits - 1) if number < 0 else 0
    rounded = abs(nearest(to, Fraction(number)))
    if rounded > largest(to):
        return ends(to, saturate)[0] | sign if BITS[to] <= 16 else ((1 << form.exponent) - 1) << form.mantissa | sign
    exact = float(rounded)
    if to in ("float", "double"):
        return int(from_floats(np.array([exact]), to, saturate, round_mode)[0]) | sign
    return int(np.searchsorted(magnitudes(to)[0], exact)) | sign


def ways(to: str, opset: int) -> list[dict[str, object]]:
    """The attributes that a cast to this type accepts, in all combinations; the empty set stands for the defaults."""
    if not to.startswith("float8"):
        return [{}]
    said: list[dict[str, object]] = [{}, {"saturate": 0}]
    if to == "float8e8m0" and opset >= 24:
        said = [{}] + [{"saturate": s, "round_mode": mode} for s in (0, 1) for mode in ("up", "down", "nearest")]
    return said


def integer_samples(name: str) -> Codes:
    """Samples of an integer type over 8 bits: around powers of two, around its ends, around values that other formats
    hold exactly.
    """
    low, high = limits(name)
    points = [0, 3, 6, 65504, 65520, 65536, 57344, 61440, low, high]
    points += [sign * (1 << power) for power in range(2, 65) for sign in (1, -1)]
    points += [(1 << power) + (1 << power - bits) for power in (31, 53, 62, 63) for bits in (4, 8, 11, 24)]
    near = {point + step for point in points for step in (-2, -1, 0, 1, 2)}
    return Codes(name, codes_of(name, sorted(value for value in near if low <= value <= high)))


def float_samples(name: str, special: np.ndarray) -> Codes:
    """Samples of float and double: the given codes, midpoints between values of each narrower format and their
    neighbors, and the ends of integer types.
    """
    wide = np.float32 if name == "float" else np.float64
    points = [np.array([0.5, 1.5, 2.5, 127.5, 128.5, 255.5, 3e4, 1e10, 1e20, 1e30])]
    powers = np.ldexp(1.0, np.arange(1, 66))
    points += [powers, powers - 1, powers + 1, powers - 0.5, powers + 0.5]
    for form in FLOATS:
        if BITS[form] <= 8:
            points += list(magnitudes(form))
        elif BITS[form] == 16:
            points += [part[::61] for part in magnitudes(form)] + [part[-3:] for part in magnitudes(form)]
    if name == "double":
        random = np.random.default_rng(5).integers(0, 0x7F7FFFFF, 4000, dtype=np.uint32)
        random = np.append(random, np.array([0, 1, 2, 0x7FFFFF, 0x800000, 0x7F7FFFFE], np.uint32))
        low, high = random.view(np.float32).astype(np.float64), (random + 1).view(np.float32).astype(np.float64)
        points += [low, (low + high) / 2, np.array([2.0**128 - 2.0**103, 2.0**-150, 2.0**-151, 2.0**-149 * 1.5])]
    made = np.concatenate(points).astype(wide)
    made = np.concatenate([made, np.nextafter(made, wide(np.inf)), np.nextafter(made, wide(0))])
    made = np.concatenate([made, -made]).view(holder(name))
    return Codes(name, np.concatenate([special, made]))
