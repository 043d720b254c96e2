"""Matmuls, convolutions and pooling: one sum per output element, in every order and grouping."""

from __future__ import annotations

import itertools

import numpy as np

from tests.faithful.arithmetic import Arithmetic
from tests.faithful.registry import Node, Outputs, computes, form_of


@computes("MatMul", sums=True)
def matmul(a: Arithmetic, node: Node, x: np.ndarray, y: np.ndarray) -> Outputs:
    return a.stored(a.matmul(a.read(x), a.read(y)))


@computes("Gemm", forms="alpha_after alpha_before start", sums=True)
def gemm(a: Arithmetic, node: Node, x: np.ndarray, y: np.ndarray, c: np.ndarray | None = None) -> Outputs:
    x, y, form = a.read(x), a.read(y), form_of(a, node)
    x, y = x.T if node.transA else x, y.T if node.transB else y
    alpha, added = a.of(node.alpha), None if c is None else a.of(node.beta) * a.read(c)
    if form == "start":  # beta * C is the accumulator's initial value
        return a.stored(a.matmul(alpha * x, y, added))
    out = a.matmul(alpha * x, y) if form == "alpha_before" else alpha * a.matmul(x, y)
    return a.stored(out if added is None else out + added)


def finite(*inputs: np.ndarray | None) -> bool:
    return all(bool(np.all(np.isfinite(np.asarray(x, np.float64)))) for x in inputs if x is not None)


# With another grouping, an infinity multiplies a partial sum instead of each term, so NaN and infinity may differ.
@computes(
    "Einsum", forms="whole left_first right_first", sums=True, domain={"left_first": finite, "right_first": finite}
)
def einsum(a: Arithmetic, node: Node, *inputs: np.ndarray) -> Outputs:
    """Equations with an arrow, without an ellipsis."""
    left, out = node.equation.replace(" ", "").split("->")
    terms = list(zip(left.split(","), map(a.read, inputs), strict=True))
    form = form_of(a, node)
    while len(terms) > 2 and form != "whole":
        pair = terms[:2] if form == "left_first" else terms[-2:]
        rest = terms[2:] if form == "left_first" else terms[:-2]
        after = set(out).union(*(set(labels) for labels, _ in rest))
        labels = "".join(sorted(set(pair[0][0] + pair[1][0]) & after))
        made = (labels, together(a, pair, labels))
        terms = [made, *rest] if form == "left_first" else [*rest, made]
    return a.stored(together(a, terms, out))


def together(a: Arithmetic, terms: list[tuple[str, np.ndarray]], out: str) -> np.ndarray:
    summed = sorted(set("".join(labels for labels, _ in terms)) - set(out))
    order = [*out, *summed]
    laid = []
    for labels, x in terms:
        distinct = sorted(set(labels), key=order.index)
        x = np.einsum(x, [order.index(each) for each in labels], [order.index(each) for each in distinct])
        shape = iter(x.shape)
        laid.append(x.reshape([next(shape) if each in distinct else 1 for each in order]))
    *first, last = np.broadcast_arrays(*laid)
    shape = last.shape[: len(out)]
    flat = [each.reshape(*shape, -1) for each in first]
    if not flat:
        return a.sum(last.reshape(*shape, -1))
    product = flat[0]
    for each in flat[1:]:
        product = product * each
    return a.dot(product, last.reshape(*shape, -1))


def slots(node: Node, image: tuple[int, ...], kernel: list[int]) -> tuple[list[int], ...]:
    """Strides, dilations, padding begin and end; auto_pad is not supported."""
    r = len(image)
    pads = list(node.pads or [0] * 2 * r)
    return list(node.strides or [1] * r), list(node.dilations or [1] * r), pads[:r], pads[r:]


def windows(node: Node, x: np.ndarray, kernel: list[int], fill: float) -> np.ndarray:
    """[n, c, o.., t..]: the elements of each window."""
    strides, spread, before, after = slots(node, x.shape[2:], kernel)
    padded = np.pad(x, [(0, 0), (0, 0), *zip(before, after, strict=True)], constant_values=fill)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, spread, strict=True)]
    r = len(kernel)
    seen = np.lib.stride_tricks.sliding_window_view(padded, reach, tuple(range(2, 2 + r)))
    steps = tuple(slice(None, None, s) for s in strides)
    return seen[(slice(None), slice(None), *steps, *(slice(None, None, d) for d in spread))]


# Winograd's algorithm F(m x m, 3 x 3), from Lavin and Gray (arXiv 1509.09308): B', A' and G.
WINOGRAD = {
    "winograd_2": (
        [[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]],
        [[1, 1, 1, 0], [0, 1, -1, -1]],
        [[1, 0, 0], [1 / 2, 1 / 2, 1 / 2], [1 / 2, -1 / 2, 1 / 2], [0, 0, 1]],
    ),
    "winograd_4": (
        [
            [4, 0, -5, 0, 1, 0],
            [0, -4, -4, 1, 1, 0],
            [0, 4, -4, -1, 1, 0],
            [0, -2, -1, 2, 1, 0],
            [0, 2, -1, -2, 1, 0],
            [0, 4, 0, -5, 0, 1],
        ],
        [[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]],
        [
            [1 / 4, 0, 0],
            [-1 / 6, -1 / 6, -1 / 6],
            [-1 / 6, 1 / 6, -1 / 6],
            [1 / 24, 1 / 12, 1 / 6],
            [1 / 24, -1 / 12, 1 / 6],
            [0, 0, 1],
        ],
    ),
}


def fits_winograd(x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> bool:
    """True for 3 x 3 kernels whose transforms stay finite; such rows of the table have strides and dilations of 1."""
    largest = max(float(np.max(np.abs(np.asarray(each, np.float64)), initial=0)) for each in (x, w))
    return w.shape[2:] == (3, 3) and finite(x, w, b) and largest < 1e12


def by_tiles(a: Arithmetic, x: np.ndarray, w: np.ndarray, matrices: tuple[list, list, list]) -> np.ndarray:
    """Convolves one group by tiles; the image is padded already, the bias excluded."""
    image, output, filters = (np.asarray(each, a.number) for each in matrices)

    def around(matrix: np.ndarray, tiles: np.ndarray) -> np.ndarray:  # matrix tile matrix'
        half = a.dot(np.swapaxes(tiles, -1, -2)[..., None, :, :], matrix[:, None, :])
        return a.dot(half[..., :, None, :], matrix)

    m = output.shape[0]
    extents = [n - 2 for n in x.shape[2:]]
    whole = np.pad(x, [(0, 0), (0, 0), *((0, -n % m) for n in extents)])
    tiles = np.lib.stride_tricks.sliding_window_view(whole, (m + 2, m + 2), (2, 3))[:, :, ::m, ::m]
    u, v = around(filters, w), around(image, tiles)  # [m, c, i, j], [n, c, y, x, i, j]
    products = a.dot(np.moveaxis(v, 1, -1)[:, None], np.moveaxis(u, 1, -1)[:, None, None])
    made = np.moveaxis(around(output, products), 4, 3)  # [n, m, y, p, x, q]
    return made.reshape(*made.shape[:2], made.shape[2] * m, -1)[:, :, : extents[0], : extents[1]]


@computes(
    "Conv",
    forms="im2col bias_first channels_apart winograd_2 winograd_4",
    sums=True,
    domain={"winograd_2": fits_winograd, "winograd_4": fits_winograd},
)
def conv(a: Arithmetic, node: Node, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> Outputs:
    x, w, form = a.read(x), a.read(w), form_of(a, node)
    kernel, r, groups = list(w.shape[2:]), w.ndim - 2, node.group
    bias = None if b is None else a.read(b).reshape(-1, *[1] * r)
    seen = windows(node, x, kernel, 0)
    outs = []
    for g in range(groups):
        own_channels = slice(g * w.shape[1], (g + 1) * w.shape[1])
        part = seen[:, own_channels]
        filters = w[g * (w.shape[0] // groups) : (g + 1) * (w.shape[0] // groups)]
        if form in WINOGRAD:
            _, _, before, after = slots(node, x.shape[2:], kernel)
            padded = np.pad(x[:, own_channels], [(0, 0), (0, 0), *zip(before, after, strict=True)])
            outs.append(by_tiles(a, padded, filters, WINOGRAD[form]))
            continue
        columns = np.moveaxis(part, 1, 1 + r).reshape(x.shape[0], 1, *part.shape[2 : 2 + r], -1)
        rows = filters.reshape(filters.shape[0], *[1] * r, -1)
        if form == "channels_apart":  # sums each channel, then adds these sums
            apart = [
                a.dot(c, f)
                for c, f in zip(
                    np.split(columns, w.shape[1], axis=-1), np.split(rows, w.shape[1], axis=-1), strict=True
                )
            ]
            outs.append(a.sum(np.stack(apart, axis=-1)))
        else:
            own = None if bias is None else bias[g * filters.shape[0] : (g + 1) * filters.shape[0]]
            outs.append(a.dot(columns, rows, own if form == "bias_first" else None))
    out = np.concatenate(outs, axis=1)
    return a.stored(out if bias is None or form == "bias_first" else out + bias)


@computes("ConvTranspose", forms="scattered gathered", sums=True)
def conv_transpose(a: Arithmetic, node: Node, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> Outputs:
    """Transposed convolution of one group, without output padding."""
    x, w = a.read(x), a.read(w)
    kernel, r = list(w.shape[2:]), w.ndim - 2
    strides, spread, before, after = slots(node, x.shape[2:], kernel)
    extents = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(x.shape[2:], strides, kernel, spread, strict=True)]
    # The products of each output element, zero where a tap has none, so that each is one sum.
    terms = np.zeros((x.shape[0], w.shape[1], *extents, w.shape[0], int(np.prod(kernel))), a.number)
    factors = np.zeros((w.shape[1], *extents, w.shape[0], int(np.prod(kernel))), a.number)
    for number, t in enumerate(itertools.product(*map(range, kernel))):
        at = tuple(
            slice(k * d, k * d + (n - 1) * s + 1, s) for k, d, n, s in zip(t, spread, x.shape[2:], strides, strict=True)
        )
        terms[(slice(None), slice(None), *at, slice(None), number)] = np.moveaxis(x, 1, -1)[:, None]
        taken = np.moveaxis(w[(slice(None), slice(None), *t)], 0, 1).reshape(w.shape[1], *[1] * r, w.shape[0])
        factors[(slice(None), *at, slice(None), number)] = taken
    if form_of(a, node) == "scattered":  # for each tap a dot product over the channels, accumulated into the output
        out = a.sum(a.dot(np.swapaxes(terms, -1, -2), np.swapaxes(factors, -1, -2)[None]))
    else:
        out = a.dot(terms.reshape(*terms.shape[:-2], -1), factors.reshape(*factors.shape[:-2], -1)[None])
    inner = tuple(slice(p, n - q) for p, q, n in zip(before, after, extents, strict=True))
    out = out[(slice(None), slice(None), *inner)]
    return a.stored(out if b is None else out + a.read(b).reshape(-1, *[1] * r))


def flat(seen: np.ndarray, r: int) -> np.ndarray:
    return seen.reshape(*seen.shape[:-r], -1)


@computes("AveragePool", "GlobalAveragePool", forms="divided by_reciprocal separable", sums=True)
def average_pool(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    x, r, form = a.read(x), x.ndim - 2, form_of(a, node)
    if node.op.startswith("Global"):
        node = Node("pool", 1, {})
        kernel = list(x.shape[2:])
    else:
        kernel = list(node.kernel_shape)
    seen, ones = windows(node, x, kernel, 0), windows(node, np.ones_like(x), kernel, float(node.count_include_pad or 0))
    counted = flat(ones, r).sum(axis=-1)
    total = seen
    if form == "separable":
        for _ in range(r):
            total = a.sum(total)
    else:
        total = a.sum(flat(seen, r))
    return a.stored(total * (1 / counted) if form == "by_reciprocal" else total / counted)


@computes("MaxPool", "GlobalMaxPool")
def max_pool(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    r = x.ndim - 2
    if node.op.startswith("Global"):
        return np.max(x, axis=tuple(range(2, x.ndim)), keepdims=True)
    return a.stored(np.max(flat(windows(node, a.read(x), list(node.kernel_shape), -np.inf), r), axis=-1))


@computes("LpPool", "GlobalLpPool", forms="root_for_2 powers", sums=True, functions=True)
def lp_pool(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    x, r = np.abs(a.read(x)), x.ndim - 2
    kernel = list(node.kernel_shape) if node.kernel_shape else list(x.shape[2:])
    seen = flat(windows(node, x, kernel, 0), r)
    if node.p == 1:
        return a.stored(a.sum(seen))
    if node.p == 2 and form_of(a, node) == "root_for_2":
        return a.stored(np.sqrt(a.dot(seen, seen)))
    return a.stored(a.pow(a.sum(a.pow(seen, a.of(node.p))), a.of(1 / node.p)))


@computes("Col2Im", sums=True)
def col2im(a: Arithmetic, node: Node, x: np.ndarray, image: np.ndarray, block: np.ndarray) -> Outputs:
    """Col2Im without padding or dilation."""
    extents, kernel = list(map(int, image)), list(map(int, block))
    strides = list(node.strides or [1] * len(kernel))
    steps = [(n - k) // s + 1 for n, k, s in zip(extents, kernel, strides, strict=True)]
    columns = a.read(x).reshape(x.shape[0], -1, *kernel, *steps)
    terms = np.zeros((*columns.shape[:2], *extents, int(np.prod(kernel))), a.number)
    for number, t in enumerate(itertools.product(*map(range, kernel))):
        at = tuple(slice(k, k + (n - 1) * s + 1, s) for k, n, s in zip(t, steps, strides, strict=True))
        terms[(slice(None), slice(None), *at, number)] = columns[(slice(None), slice(None), *t)]
    return a.stored(a.sum(terms))
