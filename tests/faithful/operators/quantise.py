"""Quantization: division by the scale or multiplication by its reciprocal; integer sums requantized by one factor or
several.
"""

from __future__ import annotations

import numpy as np

from tests.faithful.arithmetic import Arithmetic
from tests.faithful.operators.contract import windows
from tests.faithful.registry import Node, Outputs, computes, form_of


def saturated(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    limits = np.iinfo(dtype)
    return np.clip(np.nan_to_num(x, nan=0), limits.min, limits.max).astype(dtype)


def along(part: np.ndarray, x: np.ndarray, axis: int) -> np.ndarray:
    return part.reshape([-1 if k == axis % x.ndim else 1 for k in range(x.ndim)]) if part.ndim == 1 else part


@computes("QuantizeLinear", forms="divided by_reciprocal")
def quantize(a: Arithmetic, node: Node, x: np.ndarray, scale: np.ndarray, zero: np.ndarray) -> Outputs:
    data, by = a.read(x), along(a.read(scale), x, node.axis)
    scaled = data * (1 / by) if form_of(a, node) == "by_reciprocal" else data / by
    return saturated(np.rint(scaled) + along(zero, x, node.axis).astype(a.number), zero.dtype)


@computes("DequantizeLinear", forms="integers floats")
def dequantize(a: Arithmetic, node: Node, x: np.ndarray, scale: np.ndarray, zero: np.ndarray) -> Outputs:
    by, offset = along(a.read(scale), x, node.axis), along(zero, x, node.axis)
    if form_of(a, node) == "floats":
        return a.stored((a.read(x) - a.read(offset)) * by)
    return a.stored(a.read(x.astype(np.int64) - offset.astype(np.int64)) * by)


@computes("DynamicQuantizeLinear", forms="divided by_reciprocal")
def dynamic(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    low, high = np.minimum(x.min(), 0), np.maximum(x.max(), 0)
    scale = (high - low) / np.float32(255)
    zero = saturated(np.rint(-low / scale), np.dtype(np.uint8))
    scaled = x * (1 / scale) if form_of(a, node) == "by_reciprocal" else x / scale
    return saturated(np.rint(scaled) + zero.astype(np.float32), np.dtype(np.uint8)), scale, zero


@computes("MatMulInteger")
def matmul_integer(a: Arithmetic, node: Node, x: np.ndarray, y: np.ndarray, p: np.ndarray, q: np.ndarray) -> Outputs:
    return ((x.astype(np.int32) - p) @ (y.astype(np.int32) - q)).astype(np.int32)


def brought_down(whole: np.ndarray, scales: tuple[np.ndarray, ...], zero: np.ndarray, form: str) -> np.ndarray:
    """Requantizes integers by left * right / out: in one factor, or one after the other."""
    left, right, out = (each.astype(np.float32) for each in scales)
    x = whole.astype(np.float32)
    if form == "steps":
        scaled = x * left * right / out
    elif form == "by_reciprocal":
        scaled = x * (left * right * (1 / out))
    else:
        scaled = x * (left * right / out)
    return saturated(np.rint(scaled) + zero.astype(np.float32), zero.dtype)


@computes("QLinearMatMul", forms="one_factor by_reciprocal steps")
def quantised_matmul(a: Arithmetic, node: Node, *inputs: np.ndarray) -> Outputs:
    x, x_scale, p, y, y_scale, q, scale, zero = inputs
    whole = (x.astype(np.int32) - p) @ (y.astype(np.int32) - q)
    return brought_down(whole, (x_scale, y_scale, scale), zero, form_of(a, node))


def integer_conv(node: Node, x: np.ndarray, w: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Convolves one group in int32."""
    data, filters = x.astype(np.int32) - p.astype(np.int32), w.astype(np.int32) - q.astype(np.int32)
    seen = windows(node, data, list(w.shape[2:]), 0)
    r = w.ndim - 2
    columns = np.moveaxis(seen, 1, 1 + r).reshape(x.shape[0], *seen.shape[2 : 2 + r], -1)
    return np.moveaxis(columns @ filters.reshape(w.shape[0], -1).T, -1, 1).astype(np.int32)


@computes("ConvInteger")
def conv_integer(a: Arithmetic, node: Node, x: np.ndarray, w: np.ndarray, p: np.ndarray, q: np.ndarray) -> Outputs:
    return integer_conv(node, x, w, p, q)


@computes("QLinearConv", forms="one_factor by_reciprocal steps")
def quantised_conv(a: Arithmetic, node: Node, *inputs: np.ndarray) -> Outputs:
    x, x_scale, p, w, w_scale, q, scale, zero, *b = inputs
    whole = integer_conv(node, x, w, p, q)
    whole = whole + b[0].reshape(-1, *[1] * (x.ndim - 2)) if b else whole
    return brought_down(whole, (x_scale, w_scale, scale), zero, form_of(a, node))
