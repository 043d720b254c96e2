"""Arithmetic of exact values (formats.py): rational where possible, otherwise mpmath with 400 bits.

Infinities, NaN and signed zeros follow IEEE 754.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import mpmath

from tests.independent.formats import INFINITY, MINUS_ZERO, NAN, nearest_even, power_of_two, towards_zero, whole

PRECISION, LONGEST = 400, 8000  # bits of a rounded fraction, and the length above which it is rounded
mpmath.mp.prec = PRECISION
HUGE = 1 << 17  # an exponent beyond the range of every element type


def short(x: Any) -> Any:
    """Rounds a fraction that has become too long."""
    if x.__class__ is Fraction and x.denominator.bit_length() + x.numerator.bit_length() > LONGEST:
        shift = PRECISION - (x.numerator.bit_length() - x.denominator.bit_length())
        return Fraction(nearest_even(x * power_of_two(shift))) * power_of_two(-shift)
    return x


def special(*values: Any) -> bool:
    return any(v.__class__ is float for v in values)


def is_negative(x: Any) -> bool:
    return math.copysign(1.0, x) < 0 if x.__class__ is float else x < 0


def zero_of(negative: bool) -> Any:
    return MINUS_ZERO if negative else 0


def sized(x: Any) -> float:
    """A float with the value's sign, for IEEE arithmetic with infinities and NaN."""
    return x if x.__class__ is float else 1.0 if x > 0 else -1.0 if x < 0 else 0.0


def is_zero(x: Any) -> bool:
    return x == 0


def neg(x: Any) -> Any:
    if x.__class__ is float:
        return 0 if x == 0 else -x
    return MINUS_ZERO if x == 0 else -x


def add(x: Any, y: Any) -> Any:
    if x.__class__ is float or y.__class__ is float:
        if x == 0 and y == 0:
            return zero_of(is_negative(x) and is_negative(y))
        if x == 0 or y == 0:
            return y if x == 0 else x
        return _finite(sized(x) + sized(y)) if special_value(x) or special_value(y) else x + y
    return short(x + y)


def special_value(x: Any) -> bool:
    return x.__class__ is float and x != 0


def _finite(x: float) -> Any:
    return x if x != x or x in (INFINITY, -INFINITY) else whole(Fraction(x))


def sub(x: Any, y: Any) -> Any:
    return add(x, neg(y)) if x.__class__ is float or y.__class__ is float else short(x - y)


def mul(x: Any, y: Any) -> Any:
    if x.__class__ is float or y.__class__ is float:
        if special_value(x) or special_value(y):
            return sized(x) * sized(y)
        return zero_of(is_negative(x) != is_negative(y))
    made = x * y
    if made == 0:
        return zero_of((x < 0) != (y < 0)) if x != y else 0
    return short(made)


def div(x: Any, y: Any) -> Any:
    if y == 0:
        if x == 0 or x != x:
            return NAN
        return -INFINITY if is_negative(x) != is_negative(y) else INFINITY
    if x.__class__ is float or y.__class__ is float:
        if x != x or y != y:
            return NAN
        if y in (INFINITY, -INFINITY):
            return NAN if x in (INFINITY, -INFINITY) else zero_of(is_negative(x) != is_negative(y))
        if x == 0:
            return zero_of(is_negative(x) != is_negative(y))
        return sized(x) / sized(y)
    if x == 0:
        return zero_of(y < 0)
    return short(whole(Fraction(x, 1) / y))


def maximum(x: Any, y: Any) -> Any:
    if x != x or y != y:
        return NAN
    if x == y == 0:
        return y if is_negative(x) else x
    return y if x < y else x


def minimum(x: Any, y: Any) -> Any:
    if x != x or y != y:
        return NAN
    if x == y == 0:
        return x if is_negative(x) else y
    return y if y < x else x


def absolute(x: Any) -> Any:
    return (0 if x == 0 else math.fabs(x)) if x.__class__ is float else abs(x)


def sign(x: Any) -> Any:
    return x if x != x else (x > 0) - (x < 0)


def _to_integer(step: Callable[[Any], int]) -> Callable[[Any], Any]:
    def made(x: Any) -> Any:
        if x.__class__ is float:
            return x
        r = step(x)
        return MINUS_ZERO if r == 0 and x < 0 else r

    return made


floor, ceil, round_even = (_to_integer(step) for step in (math.floor, math.ceil, nearest_even))
truncate = _to_integer(towards_zero)


def fmod(x: Any, y: Any) -> Any:
    """The remainder of a division rounded towards zero, with the sign of x."""
    if x != x or y != y or y == 0 or x in (INFINITY, -INFINITY):
        return NAN
    if y in (INFINITY, -INFINITY) or x == 0:
        return x
    r = abs(x) % abs(y)
    return zero_of(x < 0) if r == 0 else -r if x < 0 else r


def prod(values: Iterable[Any]) -> Any:
    made: Any = 1
    for value in values:
        made = mul(made, value)
    return made


def total(values: Iterable[Any]) -> Any:
    """A sum that starts from +0, like an empty sum."""
    made: Any = 0
    for value in values:
        made = made + value if made.__class__ is not float and value.__class__ is not float else add(made, value)
    return short(made)


# -- transcendental functions -------------------------------------------------------------------------------------
def mp(x: Any) -> Any:
    return mpmath.mpf(x.numerator) / x.denominator if x.__class__ is not float else mpmath.mpf(x)


def back(x: Any) -> Any:
    """Converts an mpmath number to a value."""
    if mpmath.isnan(x):
        return NAN
    if mpmath.isinf(x):
        return INFINITY if x > 0 else -INFINITY
    sign_bit, mantissa, exponent, _ = x._mpf_
    if exponent + mantissa.bit_length() > HUGE:
        return -INFINITY if sign_bit else INFINITY
    if exponent + mantissa.bit_length() < -HUGE:
        mantissa, exponent = (1, -HUGE) if mantissa else (0, 0)
    value = whole(mantissa * Fraction(power_of_two(exponent)))
    return -value if sign_bit else value


def exp(x: Any) -> Any:
    if x != x:
        return NAN
    if x == 0:
        return 1
    if x > HUGE:
        return INFINITY
    if x < -HUGE:
        return 0 if x == -INFINITY else power_of_two(-HUGE)
    return back(mpmath.exp(mp(x)))


def log(x: Any) -> Any:
    if x != x or x < 0:
        return NAN
    if x == 0:
        return -INFINITY
    if x == INFINITY or x == 1:
        return INFINITY if x == INFINITY else 0
    return back(mpmath.log(mp(x)))


def sqrt(x: Any) -> Any:
    if x != x or x == 0 or x == INFINITY:
        return x
    if x < 0:
        return NAN
    top, bottom = math.isqrt(x.numerator), math.isqrt(x.denominator)
    if top * top == x.numerator and bottom * bottom == x.denominator:
        return whole(Fraction(top, bottom))
    return back(mpmath.sqrt(mp(x)))


def _plain(
    function: Callable[[Any], Any],
    at_infinity: Any = None,
    low: Any = -INFINITY,
    high: Any = INFINITY,
    zero: Any = None,
):
    """Extends a function of mpmath. `zero`: the value at zero (None: zero itself). `at_infinity`: at -inf and inf
    (None: NaN).
    """

    def made(x: Any) -> Any:
        if x != x or x < low or x > high:
            return NAN
        if x == 0:
            return x if zero is None else zero
        if x == INFINITY or x == -INFINITY:
            return NAN if at_infinity is None else at_infinity[x > 0]
        return back(function(mp(x)))

    return made


def _odd_small(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Computes functions of the form x + O(x^3) with enough precision for tiny x."""

    def made(x: Any) -> Any:
        with mpmath.workprec(PRECISION + max(0, -2 * int(mpmath.mag(x)))):
            return +function(x)

    return made


_half_pi = back(mpmath.pi / 2)
sin = _plain(_odd_small(mpmath.sin))
cos = _plain(mpmath.cos, zero=1)
tan = _plain(_odd_small(mpmath.tan))
asin = _plain(_odd_small(mpmath.asin), low=-1, high=1)
acos = _plain(mpmath.acos, low=-1, high=1, zero=_half_pi)
atan = _plain(_odd_small(mpmath.atan), (-_half_pi, _half_pi))
erf = _plain(_odd_small(mpmath.erf), (-1, 1))
atanh_inner = _plain(_odd_small(mpmath.atanh), low=-1, high=1)
asinh_inner = _plain(_odd_small(mpmath.asinh), (-INFINITY, INFINITY))


def acosh(x: Any) -> Any:
    if x == 1:
        return 0
    return INFINITY if x == INFINITY else NAN if x != x or x < 1 else back(mpmath.acosh(mp(x)))


def atanh(x: Any) -> Any:
    return x * INFINITY if x in (1, -1) else atanh_inner(x)


def asinh(x: Any) -> Any:
    return asinh_inner(x)


def _bounded(function: Callable[[Any], Any], ends: tuple[Any, Any], zero: Any = None) -> Callable[[Any], Any]:
    inner = _plain(_odd_small(function), ends, zero=zero)
    return lambda x: inner(x if x != x or abs(x) <= HUGE else INFINITY if x > 0 else -INFINITY)


sinh = _bounded(mpmath.sinh, (-INFINITY, INFINITY))
cosh = _bounded(mpmath.cosh, (INFINITY, INFINITY), zero=1)
tanh = _bounded(mpmath.tanh, (-1, 1))


def sigmoid(x: Any) -> Any:
    return NAN if x != x else div(1, add(1, exp(neg(x))))


def softplus(x: Any) -> Any:
    if x != x or x == INFINITY:
        return x
    if x < -PRECISION:
        return exp(x)
    return add(maximum(x, 0), back(mpmath.log1p(mpmath.exp(mp(neg(absolute(x)))))))


def reciprocal(x: Any) -> Any:
    return div(1, x)


def hypot(x: Any, y: Any) -> Any:
    return INFINITY if absolute(x) == INFINITY or absolute(y) == INFINITY else sqrt(add(mul(x, x), mul(y, y)))


def power(x: Any, y: Any) -> Any:
    """pow of IEEE 754."""
    if y == 0 or x == 1:
        return 1
    if x != x or y != y:
        return NAN
    integral = y.__class__ is int or (y.__class__ is Fraction and y.denominator == 1)
    odd = integral and int(y) % 2 == 1
    if x == 0:
        return zero_of(odd and is_negative(x)) if y > 0 else -INFINITY if odd and is_negative(x) else INFINITY
    if y in (INFINITY, -INFINITY):
        if absolute(x) == 1:
            return 1
        return INFINITY if (absolute(x) > 1) == (y > 0) else 0
    if x in (INFINITY, -INFINITY):
        negative = odd and x < 0
        return zero_of(negative) if y < 0 else -INFINITY if negative else INFINITY
    if x < 0 and not integral:
        return NAN
    if integral and abs(y) * (x.numerator.bit_length() + x.denominator.bit_length()) < LONGEST:
        return whole(Fraction(x) ** int(y))
    made = exp(mul(y, log(abs(x))))
    return neg(made) if x < 0 and odd else made
