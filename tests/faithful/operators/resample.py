"""Interpolation: all weights at once, dimension by dimension, or as a lerp from one neighbor to the other."""

from __future__ import annotations

import itertools

import numpy as np

from tests.faithful.arithmetic import Arithmetic
from tests.faithful.operators.contract import finite
from tests.faithful.registry import Node, Outputs, computes, form_of


def coordinates(a: Arithmetic, node: Node, extent: int, many: int, scale: float, form: str) -> np.ndarray:
    """Coordinates of the output elements on the input's grid."""
    x = np.arange(many, dtype=a.number)
    one, width = a.of(1), a.of(scale) * a.of(extent)  # the width is fractional if scales are given
    mode = node.coordinate_transformation_mode or ("asymmetric" if node.op == "Upsample" else "half_pixel")
    if mode == "align_corners":
        return x * (a.of(extent - 1) / (width - one)) if form == "steps" else x * a.of(extent - 1) / (width - one)
    half = a.of(0 if mode == "asymmetric" else 0.5)
    if form == "steps":  # one division per dimension
        return (x + half) * (one / a.of(scale)) - half
    return (x + half) / a.of(scale) - half


def taps(a: Arithmetic, node: Node, at: np.ndarray, extent: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """(index, weight) of each tap, for each output element."""
    first = np.floor(at)
    t = (at - first).astype(a.number)
    low = first.astype(np.int64)
    if node.mode != "cubic":
        weights, offsets = [1 - t, t], [0, 1]
    else:
        c = a.of(node.cubic_coeff_a)

        def near(w: np.ndarray) -> np.ndarray:
            return ((c + 2) * w - (c + 3)) * w * w + 1

        def far(w: np.ndarray) -> np.ndarray:
            return ((c * w - 5 * c) * w + 8 * c) * w - 4 * c

        weights, offsets = [far(t + 1), near(t), near(1 - t), far(2 - t)], [-1, 0, 1, 2]
    return [(np.clip(low + k, 0, extent - 1), w) for k, w in zip(offsets, weights, strict=True)]


# The standard leaves open whether an infinity or NaN with a weight of zero reaches the output.
@computes("Resize", "Upsample", forms="at_once separable columns_first lerp steps", sums=True, domain={"*": finite})
def resize(a: Arithmetic, node: Node, x: np.ndarray, *more: np.ndarray) -> Outputs:
    scales, form = more[-1], form_of(a, node)
    out = a.read(x)
    over = [d for d in range(x.ndim) if scales[d] != 1]
    found = {}
    for d in over:
        many = int(np.floor(x.shape[d] * scales[d]))
        found[d] = taps(a, node, coordinates(a, node, x.shape[d], many, float(scales[d]), form), x.shape[d])

    def laid(weight: np.ndarray, d: int) -> np.ndarray:
        return weight.reshape([-1 if k == d else 1 for k in range(x.ndim)])

    if form in ("separable", "columns_first", "lerp"):
        for d in over if form == "columns_first" else over[::-1]:
            parts = [(np.take(out, index, axis=d), laid(weight, d)) for index, weight in found[d]]
            if form == "lerp" and node.mode != "cubic":
                (low, _), (high, t) = parts
                out = a.add_product(high - low, t, low)
            else:
                seen, weights = (np.stack(np.broadcast_arrays(*each), axis=-1) for each in zip(*parts, strict=True))
                out = a.dot(seen, np.broadcast_to(weights, seen.shape))
        return a.stored(out)
    seen, weights = [], []
    for chosen in itertools.product(*(found[d] for d in over)):
        part, weight = out, np.ones((), a.number)
        for d, (index, share) in zip(over, chosen, strict=True):
            part, weight = np.take(part, index, axis=d), weight * laid(share, d)
        seen.append(part)
        weights.append(np.broadcast_to(weight, part.shape))
    return a.stored(a.dot(np.stack(seen, axis=-1), np.stack(weights, axis=-1)))
