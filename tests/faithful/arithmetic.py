"""The arithmetic of a variant: its float type, order of additions, library of functions and formula."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from tests.faithful.libm import LIBRARIES, fma

NARROW = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))

Rows = np.ndarray  # sums run along the last axis


def forward(x: Rows) -> np.ndarray:
    return np.add.accumulate(x, axis=-1, dtype=x.dtype)[..., -1]  # sequential, unlike np.sum


def backward(x: Rows) -> np.ndarray:
    return forward(x[..., ::-1])


def pairwise(x: Rows) -> np.ndarray:
    """Adds the sums of two halves, recursively."""
    n = x.shape[-1]
    return x[..., 0] if n == 1 else pairwise(x[..., : n // 2]) + pairwise(x[..., n // 2 :])


def in_blocks(width: int) -> Callable[[Rows], np.ndarray]:
    """`width` partial sums side by side, as in the lanes of a vector, added at the end."""

    def total(x: Rows) -> np.ndarray:
        rest = -x.shape[-1] % width
        padded = np.concatenate([x, np.zeros((*x.shape[:-1], rest), x.dtype)], axis=-1)
        lanes = forward(np.moveaxis(padded.reshape(*x.shape[:-1], -1, width), -1, -2))
        return forward(lanes)

    return total


def wide(x: Rows) -> np.ndarray:
    """Sums in double (float64 in long double) and rounds once at the end."""
    return forward(x.astype(np.longdouble if x.dtype == np.float64 else np.float64)).astype(x.dtype)


SUMS: dict[str, Callable[[Rows], np.ndarray]] = {
    "forward": forward,
    "backward": backward,
    "pairwise": pairwise,
    "blocks8": in_blocks(8),
    "blocks64": in_blocks(64),
    "wide": wide,
    "fused": forward,  # with fused multiply-adds: Arithmetic.dot() below
}


@dataclass(frozen=True)
class Variant:
    """The choices of a variant, which a case's target names as `sum=pairwise libm=glibc form=folded`."""

    sum: str = "forward"
    libm: str = "numpy"
    form: str = ""  # "" selects the operator's first formula
    small: str = ""  # "flushed": subnormal numbers are read and written as zeros

    @classmethod
    def of(cls, said: dict[str, str]) -> Variant:
        return cls(**{key: said[key] for key in ("sum", "libm", "form", "small") if key in said})

    def __str__(self) -> str:
        return "-".join(each for each in (self.form, self.sum, self.libm, self.small) if each)


class Arithmetic:
    """Computes as a variant does. `number` is the type of all computations: the element's, or float32 for the 16-bit
    types.
    """

    def __init__(self, variant: Variant, element: np.dtype):
        self.element = np.dtype(element)
        self.number = np.dtype(np.float32) if self.element in NARROW else self.element
        self.form = variant.form
        self.fused = variant.sum == "fused"
        self.flushes = variant.small == "flushed"
        self._total = SUMS[variant.sum]
        self._libm = LIBRARIES[variant.libm]

    def read(self, x: np.ndarray) -> np.ndarray:
        return self.flushed(np.asarray(x)).astype(self.number)

    def stored(self, x: np.ndarray) -> np.ndarray:
        return self.flushed(np.asarray(x).astype(self.element))

    def in_float(self) -> Arithmetic:
        """A copy that computes in float32 also where the elements are doubles."""
        other = copy.copy(self)
        other.number = np.dtype(np.float32)
        return other

    def flushed(self, x: np.ndarray) -> np.ndarray:
        if not self.flushes or x.dtype.kind != "f":
            return x
        return np.where(np.abs(x) < np.finfo(x.dtype).tiny, np.copysign(x.dtype.type(0), x), x)

    def of(self, x: float) -> np.ndarray:
        """A constant in the computing type."""
        return self.number.type(x)

    def sum(self, x: np.ndarray, axes: Sequence[int] | int = -1, keep: bool = False) -> np.ndarray:
        axes = [axes] if isinstance(axes, int) else list(axes)
        axes = sorted(a % x.ndim for a in axes)
        rows = np.moveaxis(x, axes, range(-len(axes), 0))
        rows = rows.reshape(*rows.shape[: x.ndim - len(axes)], int(np.prod([x.shape[a] for a in axes])))
        out = self._total(rows) if rows.shape[-1] else np.zeros(rows.shape[:-1], x.dtype)
        return np.expand_dims(out, axes) if keep else out

    def dot(self, a: np.ndarray, b: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        """Sums of products along the last axis; `start` is the accumulator's initial value."""
        if self.fused:
            a, b = np.broadcast_arrays(a, b)
            total = np.zeros(a.shape[:-1], self.number)
            total = total if start is None else total + start
            for k in range(a.shape[-1]):
                total = fma(a[..., k], b[..., k], total)
            return total
        terms = a * b
        if start is not None:
            first = np.broadcast_to(start, terms.shape[:-1])[..., None].astype(self.number)
            terms = np.concatenate([first, terms], axis=-1)
        return self.sum(terms)

    def matmul(self, a: np.ndarray, b: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        """Matmul of [.., m, k] by [.., k, n]; `start` is the accumulator's initial value."""
        return self.dot(a[..., :, None, :], np.swapaxes(b, -1, -2)[..., None, :, :], start)

    def add_product(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """a * b + c, in one rounding if the variant is fused."""
        if not self.fused:
            return a * b + c
        return fma(*(np.asarray(each, self.number) for each in np.broadcast_arrays(a, b, c)))

    def pow(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self._libm.pow(*np.broadcast_arrays(x, np.asarray(y, self.number)))

    def __getattr__(self, name: str) -> Callable[[np.ndarray], np.ndarray]:
        """Elementary functions (exp, tanh ...) of the variant's library."""
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda x: self._libm.call(name, np.asarray(x, self.number))

    def sigmoid(self, x: np.ndarray) -> np.ndarray:
        t = self.exp(-np.abs(x))
        return np.where(x >= 0, 1 / (1 + t), t / (1 + t)).astype(self.number)
