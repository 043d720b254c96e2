"""Conversion of numbers to strings and back, as casts define it.

A string is in plain notation with the fewest digits that convert back to the value.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

from tests.independent import formats
from tests.independent.formats import INFINITY, MINUS_ZERO, NAN, whole
from tests.independent.refusal import Refusal

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\Z", re.ASCII)
LONGEST = 400  # bound of an exponent's digits: a longer one is out of every type's range


def text_of(value: Any, type_: str) -> str:
    if type_ == "bool":
        return "True" if value else "False"
    if formats.is_integer(type_):
        return str(value)
    if value.__class__ is float:
        if value != value:
            return "nan"
        return "-0.0" if value == 0 else "inf" if value > 0 else "-inf"
    sign, size = ("-", -value) if value < 0 else ("", value)
    if size == 0:
        return "0.0"
    return sign + plain(*shortest(size, type_))


def shortest(size: Any, type_: str) -> tuple[int, int]:
    """(digits, exponent) of digits * 10^exponent: the fewest digits that round to the value; of these, the nearest."""
    code = formats.encode(type_, size)
    top = len(str(size.numerator)) - len(str(size.denominator)) + 1
    for count in range(1, 800):
        exponent = top - count
        for power in (exponent - 1, exponent):  # the leading digit may be one position lower
            unit = Fraction(10) ** power
            digits = formats.nearest_even(size / unit)
            if len(str(digits)) <= count and digits and formats.encode(type_, whole(digits * unit)) == code:
                return digits, power
    raise AssertionError("a number without an end")


def plain(digits: int, exponent: int) -> str:
    text = str(digits)
    if exponent >= 0:
        return f"{text}{'0' * exponent}.0"
    text = text.rjust(1 - exponent, "0")
    made = f"{text[:exponent]}.{text[exponent:]}".rstrip("0")
    return made + "0" if made.endswith(".") else made


def number_of(text: str, type_: str) -> Any:
    stripped = text.strip(" \t\n\v\f\r")
    low = stripped.lower()
    if type_ == "bool" and low in ("true", "false"):
        return 1 if low == "true" else 0
    if low.lstrip("+-") == "inf" and len(low) <= 4:
        return -INFINITY if low[0] == "-" else INFINITY
    if low == "nan":
        return NAN
    if not NUMBER.match(stripped):
        raise Refusal(f"'{text}' is no number")
    mantissa, _, exponent = stripped.lower().partition("e")
    power = int(exponent or 0)
    value = Fraction(mantissa)
    if value == 0:
        return MINUS_ZERO if stripped[0] == "-" else 0
    if abs(power) > 20000:
        return math.copysign(INFINITY if power > 0 else 0.0, value)
    return whole(value * Fraction(10) ** power)
