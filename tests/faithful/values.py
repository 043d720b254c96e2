"""Test data in regimes, since each reveals other faults. An element depends on (case, tensor, position) alone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import ml_dtypes
import numpy as np

TYPES = {
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
}
# By type: the binades that log-uniform data span, and the factor of rare large elements.
BINADES = {"float": 40, "double": 120, "float16": 12, "bfloat16": 40}
BIG = {"float": 2.0**20, "double": 2.0**40, "float16": 2.0**9, "bfloat16": 2.0**12}


class Draw:
    """Uniform numbers of one tensor from a counter, so that elements do not depend on the order of draws."""

    def __init__(self, case: str, tensor: str, shape: tuple[int, ...]):
        self.key = np.uint64(int.from_bytes(hashlib.sha256(f"{case}|{tensor}".encode()).digest()[:8], "little"))
        self.shape = shape

    def uniform(self, salt: int = 0) -> np.ndarray:
        x = np.arange(int(np.prod(self.shape)), dtype=np.uint64) + (np.uint64(salt) << np.uint64(48))
        with np.errstate(over="ignore"):
            x = (x ^ self.key) + np.uint64(0x9E3779B97F4A7C15)  # splitmix64, twice
            for _ in range(2):
                x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                x ^= x >> np.uint64(31)
        return ((x >> np.uint64(11)).astype(np.float64) / 2.0**53).reshape(self.shape)

    def normal(self, salt: int = 0) -> np.ndarray:
        radius = np.sqrt(-2 * np.log(1 - self.uniform(salt)))
        return radius * np.cos(2 * np.pi * self.uniform(salt + 1))


def whole(d: Draw, of: str) -> np.ndarray:
    """Small integers, whose sums and products are exact."""
    return np.floor(d.uniform() * 17) - 8


def logs(d: Draw, of: str) -> np.ndarray:
    """Log-uniform numbers of both signs."""
    return np.exp2((d.uniform(2) - 0.5) * BINADES[of]) * np.where(d.uniform(3) < 0.5, -1, 1)


def cancel(d: Draw, of: str) -> np.ndarray:
    """Neighbors along any axis nearly cancel."""
    sign = (-1.0) ** np.indices(d.shape).sum(axis=0) if d.shape else 1.0
    return sign * 100 + d.normal()


def giant(d: Draw, of: str) -> np.ndarray:
    """Rare large elements among small ones."""
    return np.where(d.uniform(2) < 1 / 24, BIG[of], 1) * d.normal()


def special(d: Draw, of: str) -> np.ndarray:
    """Infinities, NaN, zeros, the largest and smallest numbers, among normal draws."""
    dtype = TYPES[of]
    most = float(ml_dtypes.finfo(dtype).max)
    least, normal = float(ml_dtypes.finfo(dtype).smallest_subnormal), float(ml_dtypes.finfo(dtype).tiny)
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, most, -most, least, -least, normal, -normal, 1.0])
    picked = odd[(d.uniform(2) * odd.size).astype(np.int64)]
    return np.where(d.uniform(3) < 0.15, picked, d.normal())


def constant(d: Draw, of: str) -> np.ndarray:
    """One value, which has no short binary form."""
    return np.full(d.shape, 0.1 + d.uniform().ravel()[0] if d.uniform().size else 0.1)


def two_values(d: Draw, of: str) -> np.ndarray:
    return np.where(d.uniform() < 0.5, 0.1, -1.7)


def realistic(d: Draw, of: str) -> np.ndarray:
    return 0.3 + d.normal()


def far(d: Draw, of: str) -> np.ndarray:
    """Close to each other and all far from zero."""
    return (1000 if of in ("float", "double") else 20) + d.normal()


REGIMES: dict[str, Callable[[Draw, str], np.ndarray]] = {
    "whole": whole,
    "logs": logs,
    "cancel": cancel,
    "giant": giant,
    "special": special,
    "constant": constant,
    "two": two_values,
    "real": realistic,
    "far": far,
}


def unit(x: np.ndarray) -> np.ndarray:
    """Maps every number into [-1, 1]."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(x), np.sign(x), x / (1 + np.abs(x)))


# Roles of an input in the table of cases: each maps a regime's data to the operator's domain.
ROLES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "x": lambda x: x,
    "unit": unit,
    "size": np.abs,
    "above_one": lambda x: 1 + np.abs(x),
}


def tensor(case: str, name: str, role: str, shape: tuple[int, ...], regime: str, of: str) -> np.ndarray:
    """An input of the element type. Roles `weight` and `positive` are moderate numbers in every regime."""
    d = Draw(case, name, shape)
    if role == "weight":
        data = 0.5 * d.normal() if regime != "whole" else np.floor(d.uniform() * 9) - 4
    elif role == "positive":
        data = 0.25 + 2 * d.uniform() if regime != "whole" else 1 + np.floor(d.uniform() * 3)
    else:
        data = ROLES[role](REGIMES[regime](d, of))
    with np.errstate(all="ignore"):
        return data.astype(TYPES[of])
