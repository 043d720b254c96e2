"""Four libraries of scalar functions, as faithful runtimes have them: numpy's, glibc's, correctly rounded ones, and the
short polynomials of vector units. Each takes and returns arrays of one float type (float32 or float64).
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache

import mpmath
import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

Unary = Callable[[np.ndarray], np.ndarray]

UNARY = ("exp log sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc expm1 log1p").split()
C = ctypes.CDLL("libm.so.6")


@cache
def _of_c(name: str, size: int, arguments: int = 1) -> Callable[..., float]:
    number = ctypes.c_float if size == 4 else ctypes.c_double
    function = getattr(C, name + ("f" if size == 4 else ""))
    function.restype, function.argtypes = number, [number] * arguments
    return function


def _each(function: Callable[..., float], *arrays: np.ndarray) -> np.ndarray:
    """Applies a scalar function to each element."""
    dtype = arrays[0].dtype
    wide = np.broadcast_arrays(*arrays)
    values = [function(*map(float, each)) for each in zip(*(one.ravel() for one in wide), strict=True)]
    return np.array(values, dtype).reshape(wide[0].shape)


def fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c, rounded once."""
    if a.dtype != np.float32:
        return _each(_of_c("fma", 8, 3), a, b, c)
    # The product is exact in double. If the sum is not, it is rounded to odd, so that the second rounding is correct.
    product = a.astype(np.float64) * b
    total = product + c
    back = total - product
    left = (product - (total - back)) + (c - back)
    even = (np.asarray(total).view(np.int64) & 1) == 0
    nudged = np.nextafter(total, np.where(left > 0, np.inf, -np.inf))
    return np.where((left != 0) & np.isfinite(left) & even, nudged, total).astype(np.float32)


class Numpy:
    """numpy's functions; erf, which numpy lacks, is the C library's."""

    name = "numpy"

    def call(self, name: str, x: np.ndarray) -> np.ndarray:
        long = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
        long |= {"asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
        found = getattr(np, long.get(name, name), None)
        return found(x) if found is not None else _each(_of_c(name, x.itemsize), x)

    def pow(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.power(x, y)


class Glibc:
    """The functions of the C library for the element's own type."""

    name = "glibc"

    def call(self, name: str, x: np.ndarray) -> np.ndarray:
        return _each(_of_c(name, x.itemsize), x)

    def pow(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return _each(_of_c("pow", x.itemsize, 2), x, y)


class Nearest:
    """Functions rounded to nearest from 120 bits; glibc's where mpmath has no result (infinities, poles)."""

    name = "nearest"

    def call(self, name: str, x: np.ndarray) -> np.ndarray:
        function, plain = getattr(mpmath, name), _of_c(name, x.itemsize)
        return _each(lambda v: self._one(plain, function, v), x)

    def pow(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return _each(lambda a, b: self._one(_of_c("pow", x.itemsize, 2), mpmath.power, a, b), x, y)

    @staticmethod
    def _one(plain: Callable[..., float], function: Callable[..., mpmath.mpf], *x: float) -> float:
        near = plain(*x)
        if not math.isfinite(near) or near == 0 or not all(map(math.isfinite, x)):
            return near
        with mpmath.workprec(120):
            return float(function(*map(mpmath.mpf, x)))


def _fitted(function: Callable[[float], float], low: float, high: float, degree: int) -> np.ndarray:
    """Coefficients, highest degree first, of a polynomial through the Chebyshev points of [low, high]."""
    fit = Chebyshev.interpolate(np.vectorize(function), degree, domain=[low, high])
    return fit.convert(kind=Polynomial).coef[::-1].astype(np.float32)


def _horner(coefficients: np.ndarray, x: np.ndarray) -> np.ndarray:
    out = np.full_like(x, coefficients[0])
    for each in coefficients[1:]:
        out = out * x + each
    return out


def _root_of_square(function: Callable[[float], float]) -> Callable[[float], float]:
    """The function g of an odd function x * g(x * x)."""
    return lambda s: function(math.sqrt(s)) / math.sqrt(s) if s > 1e-12 else function(1e-6) / 1e-6


class Simd(Glibc):
    """exp, tanh and erf of float32 as a vector unit computes them: argument reduction and a short polynomial, within 4
    ulp. All other functions, and all of float64, are the C library's.
    """

    name = "simd"
    HALF_LN2 = math.log(2) / 2
    EXP = _fitted(math.exp, -HALF_LN2 * 1.001, HALF_LN2 * 1.001, 6)
    TANH = _fitted(_root_of_square(math.tanh), 0, 0.625**2, 5)
    ERF = _fitted(_root_of_square(math.erf), 0, 1, 6)
    LOG_ERFC = _fitted(lambda x: math.log(math.erfc(x)), 0.9, 4.1, 9)

    def call(self, name: str, x: np.ndarray) -> np.ndarray:
        own = getattr(self, "_" + name, None)
        return own(x) if own is not None and x.dtype == np.float32 else super().call(name, x)

    def _exp(self, x: np.ndarray) -> np.ndarray:
        inside = np.clip(np.where(np.isnan(x), np.float32(0), x), np.float32(-104), np.float32(89))
        n = np.rint(inside * np.float32(1.44269504))
        rest = fma(n, np.float32(-0.693359375) + 0 * n, inside)  # the leading bits of ln 2: this product is exact
        rest = fma(n, np.float32(2.12194440e-4) + 0 * n, rest)
        power = _horner(self.EXP, rest)
        half = np.trunc(n / 2)  # scales twice, so that neither power leaves the range
        out = np.ldexp(np.ldexp(power, half.astype(np.int32)), (n - half).astype(np.int32))
        return np.where(np.isnan(x), x, out.astype(np.float32))

    def _tanh(self, x: np.ndarray) -> np.ndarray:
        size = np.abs(x)
        small = x * _horner(self.TANH, np.minimum(size, np.float32(0.625)) ** 2)
        large = np.float32(1) - np.float32(2) / (self._exp(2 * size) + np.float32(1))
        return np.where(size < np.float32(0.625), small, np.copysign(large, x))

    def _erf(self, x: np.ndarray) -> np.ndarray:
        size = np.abs(x)
        small = x * _horner(self.ERF, np.minimum(size, np.float32(1)) ** 2)
        large = np.float32(1) - self._exp(_horner(self.LOG_ERFC, np.clip(size, np.float32(0.9), np.float32(4))))
        return np.where(size < np.float32(1), small, np.copysign(large, x))


LIBRARIES = {each.name: each for each in (Numpy(), Glibc(), Nearest(), Simd())}
