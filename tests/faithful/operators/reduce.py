"""Reductions: sums in every order, means, norms, logarithms of sums, running sums, losses."""

from __future__ import annotations

import numpy as np

from tests.faithful.arithmetic import Arithmetic
from tests.faithful.registry import Node, Outputs, computes, form_of


def axes_of(node: Node, x: np.ndarray, axes: np.ndarray | None) -> list[int]:
    named = list(map(int, axes)) if axes is not None else list(node.axes or [])
    if not named and not node.noop_with_empty_axes:
        named = list(range(x.ndim))
    return [axis % x.ndim for axis in named]


def kept(node: Node, out: np.ndarray, axes: list[int]) -> np.ndarray:
    return np.expand_dims(out, axes) if node.keepdims != 0 else out


@computes("ReduceSum", "ReduceSumSquare", "ReduceL1", "ReduceL2", "ReduceLogSum", sums=True)
def reduce_sum(a: Arithmetic, node: Node, data: np.ndarray, axes: np.ndarray | None = None) -> Outputs:
    x, over = a.read(data), axes_of(node, data, axes)
    if node.op in ("ReduceSumSquare", "ReduceL2"):
        rows = np.moveaxis(x, over, range(-len(over), 0))
        rows = rows.reshape(*rows.shape[: x.ndim - len(over)], -1)
        out = a.dot(rows, rows)
        out = np.sqrt(out) if node.op == "ReduceL2" else out
    else:
        out = a.sum(np.abs(x) if node.op == "ReduceL1" else x, over)
        out = a.log(out) if node.op == "ReduceLogSum" else out
    return a.stored(kept(node, out, over))


@computes("ReduceMean", forms="divided by_reciprocal", sums=True)
def reduce_mean(a: Arithmetic, node: Node, data: np.ndarray, axes: np.ndarray | None = None) -> Outputs:
    x, over, form = a.read(data), axes_of(node, data, axes), form_of(a, node)
    n = int(np.prod([x.shape[axis] for axis in over]))
    if form == "by_reciprocal":
        out = a.sum(x, over) * a.of(1 / n)
    else:
        out = a.sum(x, over) / n
    return a.stored(kept(node, out, over))


def calm(x: np.ndarray, *_: np.ndarray) -> bool:
    """True if exponentials of all elements are normal numbers, and so is a sum of many of them."""
    most = 60 if x.dtype != np.float64 else 600
    return bool(np.all(np.abs(np.asarray(x, np.float64)) < most))


@computes("ReduceLogSumExp", forms="shifted plain", sums=True, functions=True, domain={"plain": calm})
def log_sum_exp(a: Arithmetic, node: Node, data: np.ndarray, axes: np.ndarray | None = None) -> Outputs:
    x, over = a.read(data), axes_of(node, data, axes)
    if form_of(a, node) == "plain":
        return a.stored(kept(node, a.log(a.sum(a.exp(x), over)), over))
    most = np.max(x, axis=tuple(over), keepdims=True)
    most = np.where(np.isinf(most), 0, most).astype(x.dtype)
    out = a.log(a.sum(a.exp(x - most), over)) + most.reshape(np.max(x, axis=tuple(over)).shape)
    return a.stored(kept(node, out, over))


@computes("ReduceProd", forms="forward backward tree")
def reduce_prod(a: Arithmetic, node: Node, data: np.ndarray, axes: np.ndarray | None = None) -> Outputs:
    over, form = axes_of(node, data, axes), form_of(a, node)
    x = np.moveaxis(a.read(data), over, range(-len(over), 0))
    x = x.reshape(*x.shape[: x.ndim - len(over)], -1)

    def tree(part: np.ndarray) -> np.ndarray:
        n = part.shape[-1]
        return part[..., 0] if n == 1 else tree(part[..., : n // 2]) * tree(part[..., n // 2 :])

    if form == "tree":
        return a.stored(kept(node, tree(x), over))
    x = x[..., ::-1] if form == "backward" else x
    return a.stored(kept(node, np.multiply.accumulate(x, axis=-1)[..., -1], over))


@computes("ReduceMax", "ReduceMin")
def reduce_extreme(a: Arithmetic, node: Node, data: np.ndarray, axes: np.ndarray | None = None) -> Outputs:
    over = axes_of(node, data, axes)
    take = np.max if node.op == "ReduceMax" else np.min
    return kept(node, take(data, axis=tuple(over)), over)


@computes("ArgMax", "ArgMin")
def arg_extreme(a: Arithmetic, node: Node, data: np.ndarray) -> Outputs:
    out = (np.argmax if node.op == "ArgMax" else np.argmin)(a.read(data), axis=node.axis)
    return kept(node, out.astype(np.int64), [node.axis % data.ndim])


@computes("CumSum", forms="running in_blocks doubling")
def running_sum(a: Arithmetic, node: Node, x: np.ndarray, axis: np.ndarray) -> Outputs:
    rows = np.moveaxis(a.read(x), int(axis), -1)
    rows = rows[..., ::-1] if node.reverse else rows
    n, form = rows.shape[-1], form_of(a, node)
    if form == "doubling":  # as on a GPU: adds the element 1, 2, 4 ... positions before
        out, step = rows.copy(), 1
        while step < n:
            out[..., step:] = out[..., step:] + out[..., :-step].copy()
            step *= 2
    elif form == "in_blocks":
        parts, carried = [], np.zeros((*rows.shape[:-1], 1), rows.dtype)
        for k in range(0, n, 8):
            parts.append(np.add.accumulate(rows[..., k : k + 8], axis=-1) + carried)
            carried = parts[-1][..., -1:]
        out = np.concatenate(parts, axis=-1)
    else:
        out = np.add.accumulate(rows, axis=-1)
    if node.exclusive:
        out = np.concatenate([np.zeros_like(out[..., :1]), out[..., :-1]], axis=-1)
    return a.stored(np.moveaxis(out[..., ::-1] if node.reverse else out, -1, int(axis)))


def log_softmax_of(a: Arithmetic, x: np.ndarray, axis: int) -> np.ndarray:
    """Subtracts the maximum before the logarithm: subtracting both at once would absorb the logarithm, which is a known
    error.
    """
    most = np.max(x, axis=axis, keepdims=True)
    return (x - most) - a.log(a.sum(a.exp(x - most), axis, keep=True))


@computes("NegativeLogLikelihoodLoss", sums=True)
@computes("SoftmaxCrossEntropyLoss", sums=True, functions=True)
def loss(a: Arithmetic, node: Node, x: np.ndarray, target: np.ndarray, weight: np.ndarray | None = None) -> Outputs:
    x = a.read(x)
    likely = log_softmax_of(a, x, 1) if node.op.startswith("Softmax") else x
    picked = -np.take_along_axis(likely, target[:, None], axis=1)[:, 0]
    share = a.read(weight)[target] if weight is not None else np.ones_like(picked)
    if node.reduction == "none":
        return a.stored(picked * share)
    total = a.dot(picked.ravel(), share.ravel())
    return a.stored(total if node.reduction == "sum" else total / a.sum(share.ravel()))
