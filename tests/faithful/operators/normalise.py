"""Normalizations: row statistics in two passes, one pass or running; factors divided, multiplied or folded."""

from __future__ import annotations

import numpy as np

from tests.faithful.arithmetic import Arithmetic
from tests.faithful.operators.reduce import calm, log_softmax_of
from tests.faithful.registry import Node, Outputs, computes, form_of


def softmax_rows(a: Arithmetic, x: np.ndarray, form: str) -> np.ndarray:
    """Softmax along the last axis."""
    if form == "plain":
        e = a.exp(x)
        return e / a.sum(e, keep=True)
    most = np.max(x, axis=-1, keepdims=True)
    if form == "online":  # one pass: rescales the partial sum whenever a larger element appears
        top, total = x[..., :1], np.ones_like(x[..., :1])
        for k in range(1, x.shape[-1]):
            higher = np.maximum(top, x[..., k : k + 1])
            total = a.add_product(total, a.exp(top - higher), a.exp(x[..., k : k + 1] - higher))
            top = higher
        return a.exp(x - top) / total
    e = a.exp(x - most)
    total = a.sum(e, keep=True)
    return e * (1 / total) if form == "by_reciprocal" else e / total


@computes(
    "Softmax",
    forms="divided by_reciprocal plain online",
    sums=True,
    functions=True,
    domain={"plain": calm},
)
@computes("LogSoftmax", sums=True, functions=True)
def softmax(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    """Before version 13 all dimensions from the axis on form one row."""
    one_row, x = node.since < 13, a.read(x)
    rows = x.reshape(*x.shape[: node.axis], -1) if one_row else np.moveaxis(x, node.axis, -1)
    log = node.op.startswith("Log")
    out = log_softmax_of(a, rows, -1) if log else softmax_rows(a, rows, form_of(a, node))
    return a.stored(out.reshape(x.shape) if one_row else np.moveaxis(out, -1, node.axis))


@computes("Hardmax")
def hardmax(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    rows = np.moveaxis(a.read(x), node.axis, -1)
    out = np.zeros_like(rows)
    np.put_along_axis(out, np.argmax(rows, axis=-1)[..., None], 1, axis=-1)
    return a.stored(np.moveaxis(out, -1, node.axis))


def around_zero(x: np.ndarray, *_: np.ndarray) -> bool:
    """True if the square of the mean does not cancel the variance, so that a one-pass variance is accurate."""
    values = x.astype(np.float64)
    return not np.isfinite(values).all() or bool(abs(values.mean()) <= 8 * values.std())


def moments(a: Arithmetic, x: np.ndarray, form: str) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each row (last axis), kept as a dimension of 1."""
    n = x.shape[-1]
    if form == "welford":
        mean, squares = x[..., :1], np.zeros_like(x[..., :1])
        for k in range(1, n):
            off = x[..., k : k + 1] - mean
            mean = mean + off / (k + 1)
            squares = squares + off * (x[..., k : k + 1] - mean)
        return mean, squares / n
    mean = a.sum(x, keep=True)
    mean = mean * a.of(1 / n) if form == "by_reciprocal" else mean / n
    if form == "one_pass":
        return mean, np.maximum(a.dot(x, x)[..., None] / n - mean * mean, 0)
    centred = x - mean
    squares = a.dot(centred, centred)[..., None]
    return mean, squares * a.of(1 / n) if form == "by_reciprocal" else squares / n


def normal_of(a: Arithmetic, x: np.ndarray, epsilon: float, form: str) -> tuple[np.ndarray, ...]:
    """The normalized rows, their mean, and the reciprocal of the deviation."""
    mean, variance = moments(a, x, form)
    deviation = np.sqrt(variance + a.of(epsilon))
    inverse = 1 / deviation
    if form == "folded":
        return a.add_product(x, inverse, -(mean * inverse)), mean, inverse
    if form in ("divided", "one_pass"):
        return (x - mean) / deviation, mean, inverse
    return (x - mean) * inverse, mean, inverse


@computes(
    "LayerNormalization",
    forms="two_pass divided by_reciprocal welford folded one_pass",
    sums=True,
    domain={"one_pass": around_zero},
)
def layer(a: Arithmetic, node: Node, x: np.ndarray, scale: np.ndarray, bias: np.ndarray | None = None) -> Outputs:
    axis = node.axis % x.ndim
    stash = a.in_float()
    rows = stash.read(x).reshape(*x.shape[:axis], -1)
    normal, mean, inverse = normal_of(stash, rows, node.epsilon, form_of(a, node))
    out = a.read(normal).reshape(x.shape) * a.read(scale)
    out = out + a.read(bias) if bias is not None else out
    shape = (*x.shape[:axis], *[1] * (x.ndim - axis))
    extra = (mean.reshape(shape).astype(np.float32), inverse.reshape(shape).astype(np.float32))
    return (a.stored(out), *extra)[: node.wanted]


@computes("InstanceNormalization", forms="two_pass divided by_reciprocal folded", sums=True)
def instance(a: Arithmetic, node: Node, x: np.ndarray, scale: np.ndarray, bias: np.ndarray) -> Outputs:
    rows, form = a.read(x).reshape(*x.shape[:2], -1), form_of(a, node)
    scale, bias = a.read(scale)[:, None], a.read(bias)[:, None]
    if form == "folded":
        mean, variance = moments(a, rows, form)
        factor = scale * (1 / np.sqrt(variance + a.of(node.epsilon)))
        out = a.add_product(rows, factor, bias - mean * factor)
    else:
        out = normal_of(a, rows, node.epsilon, form)[0] * scale + bias
    return a.stored(out.reshape(x.shape))


@computes(
    "GroupNormalization",
    forms="two_pass divided by_reciprocal welford folded one_pass",
    sums=True,
    domain={"one_pass": around_zero},
)
def group(a: Arithmetic, node: Node, x: np.ndarray, scale: np.ndarray, bias: np.ndarray) -> Outputs:
    stash = a.in_float()
    rows = stash.read(x).reshape(x.shape[0], node.num_groups, -1)
    normal = normal_of(stash, rows, node.epsilon, form_of(a, node))[0]
    normal = a.read(normal).reshape(*x.shape[:2], -1)
    return a.stored((normal * a.read(scale)[:, None] + a.read(bias)[:, None]).reshape(x.shape))


@computes(
    "MeanVarianceNormalization", forms="two_pass by_reciprocal one_pass", sums=True, domain={"one_pass": around_zero}
)
def mean_variance(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    over = [axis % x.ndim for axis in node.axes]
    apart = np.moveaxis(a.read(x), over, range(-len(over), 0))
    rows = apart.reshape(*apart.shape[: x.ndim - len(over)], -1)
    mean, variance = moments(a, rows, form_of(a, node))
    out = (rows - mean) / (np.sqrt(variance) + a.of(1e-9))
    return a.stored(np.moveaxis(out.reshape(apart.shape), range(-len(over), 0), over))


@computes("RMSNormalization", forms="divided inverse by_reciprocal", sums=True)
def root_mean_square(a: Arithmetic, node: Node, x: np.ndarray, scale: np.ndarray) -> Outputs:
    axis, form = node.axis % x.ndim, form_of(a, node)
    stash = a.in_float()
    rows = stash.read(x).reshape(*x.shape[:axis], -1)
    squares, n = stash.dot(rows, rows)[..., None], rows.shape[-1]
    mean = squares * stash.of(1 / n) if form == "by_reciprocal" else squares / n
    root = np.sqrt(mean + stash.of(node.epsilon))
    normal = rows / root if form == "divided" else rows * (1 / root)
    return a.stored(a.read(normal).reshape(x.shape) * a.read(scale))


@computes("LpNormalization", forms="divided inverse", sums=True)
def lp(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    rows = np.moveaxis(a.read(x), node.axis, -1)
    norm = a.sum(np.abs(rows), keep=True) if node.p == 1 else np.sqrt(a.dot(rows, rows))[..., None]
    with np.errstate(all="ignore"):
        out = rows * (1 / norm) if form_of(a, node) == "inverse" else rows / norm
    return a.stored(np.moveaxis(np.where(norm == 0, 0, out).astype(a.number), -1, node.axis))


def tame(x: np.ndarray, *_: np.ndarray) -> bool:
    """True if logarithms of sums of squares are so small that exp(-beta * log) is as accurate as a power."""
    return bool(np.all(np.abs(np.asarray(x, np.float64)) < 2.0**24))


@computes("LRN", forms="divided inverse of_log of_roots", sums=True, functions=True, domain={"of_log": tame})
def local_response(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    x, form = a.read(x), form_of(a, node)
    before, channels = (node.size - 1) // 2, x.shape[1]
    padded = np.zeros((x.shape[0], channels + node.size - 1, *x.shape[2:]), x.dtype)
    padded[:, before : before + channels] = x
    near = np.stack([padded[:, k : k + channels] for k in range(node.size)], axis=-1)
    mean = a.add_product(a.of(node.alpha / node.size), a.dot(near, near), a.of(node.bias))
    beta = np.full_like(mean, node.beta)
    if form == "of_roots" and node.beta == 0.75:
        root = np.sqrt(mean)
        return a.stored(x / (root * np.sqrt(root)))
    if form == "of_log":
        return a.stored(x * a.exp(-beta * a.log(mean)))
    return a.stored(x * a.pow(mean, -beta) if form == "inverse" else x / a.pow(mean, beta))


@computes("BatchNormalization", forms="written inverse folded", sums=True)
def batch(
    a: Arithmetic,
    node: Node,
    x: np.ndarray,
    scale: np.ndarray,
    bias: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
) -> Outputs:
    form, shape = form_of(a, node), (-1, *[1] * (x.ndim - 2))
    data, given_mean, given_variance = a.read(x), a.read(mean), a.read(variance)
    if node.training_mode:
        rows = np.moveaxis(data, 1, 0).reshape(x.shape[1], -1)
        centre, spread = (each[:, 0] for each in moments(a, rows, "two_pass"))
    else:
        centre, spread = given_mean, given_variance
    deviation = np.sqrt(spread + a.of(node.epsilon))
    scale, bias = a.read(scale), a.read(bias)
    if form == "folded":
        factor = scale / deviation
        out = a.add_product(data, factor.reshape(shape), (bias - centre * factor).reshape(shape))
    else:
        apart = data - centre.reshape(shape)
        apart = apart * (1 / deviation).reshape(shape) if form == "inverse" else apart / deviation.reshape(shape)
        out = apart * scale.reshape(shape) + bias.reshape(shape)
    if node.wanted == 1:
        return a.stored(out)
    momentum = a.of(node.momentum)
    running = [
        a.stored(old * momentum + new * (1 - momentum)) for old, new in ((given_mean, centre), (given_variance, spread))
    ]
    return (a.stored(out), *running)


@computes("Attention", forms="both_scaled scaled_scores scaled_queries online", sums=True, functions=True)
def attention(
    a: Arithmetic, node: Node, q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None = None
) -> Outputs:
    """Four-dimensional Attention with an additive mask, or causal."""
    form = form_of(a, node)
    q, k, v = a.read(q), a.read(k), a.read(v)
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    scale = a.of(node.scale if node.scale is not None else 1 / np.sqrt(q.shape[-1]))
    turned = np.swapaxes(k, -1, -2)
    if form == "both_scaled":
        scores = a.matmul(q * np.sqrt(scale), turned * np.sqrt(scale))
    elif form == "scaled_queries":
        scores = a.matmul(q * scale, turned)
    else:
        scores = a.matmul(q, turned) * scale
    if node.softcap:
        scores = a.of(node.softcap) * a.tanh(scores / a.of(node.softcap))
    if mask is not None:
        scores = scores + a.read(mask)
    if node.is_causal:
        i, j = np.indices(scores.shape[-2:])
        # adds -inf instead of overwriting, so a masked NaN stays NaN
        scores = scores + np.where(j <= i, 0, -np.inf).astype(a.number)
    if form != "online":
        return a.stored(a.matmul(softmax_rows(a, scores, "divided"), v))
    # One block of keys at a time: rescales the partial sums whenever a larger score appears.
    top = np.full((*scores.shape[:-1], 1), -np.inf, a.number)
    total, out = np.zeros_like(top), np.zeros((*scores.shape[:-1], v.shape[-1]), a.number)
    for first in range(0, scores.shape[-1], 4):
        part, rows = scores[..., first : first + 4], v[..., first : first + 4, :]
        higher = np.maximum(top, np.max(part, axis=-1, keepdims=True))
        down, weights = a.exp(top - higher), a.exp(part - higher)
        total = total * down + a.sum(weights, keep=True)
        out = out * down + a.matmul(weights, rows)
        top = higher
    return a.stored(out / total)
