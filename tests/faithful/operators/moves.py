"""Data-movement and shape operators, TopK among them, which are exact in any implementation, and ScatterElements that
adds.
"""

from __future__ import annotations

import numpy as np

from tests.faithful.arithmetic import Arithmetic
from tests.faithful.registry import Node, Outputs, computes


@computes("Identity")
def identity(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    return x.copy()


@computes("Transpose")
def transpose(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    return np.ascontiguousarray(np.transpose(x, node.perm))


@computes("Reshape")
def reshape(a: Arithmetic, node: Node, x: np.ndarray, shape: np.ndarray) -> Outputs:
    return x.reshape(list(map(int, shape))).copy()


@computes("Concat")
def concat(a: Arithmetic, node: Node, *inputs: np.ndarray) -> Outputs:
    return np.concatenate(inputs, axis=node.axis)


@computes("Gather")
def gather(a: Arithmetic, node: Node, x: np.ndarray, indices: np.ndarray) -> Outputs:
    return np.take(x, indices, axis=node.axis)


@computes("Pad")
def pad(a: Arithmetic, node: Node, x: np.ndarray, pads: np.ndarray, value: np.ndarray) -> Outputs:
    return np.pad(x, pads.reshape(2, -1).T, constant_values=value.item())


@computes("Tile")
def tile(a: Arithmetic, node: Node, x: np.ndarray, repeats: np.ndarray) -> Outputs:
    return np.tile(x, repeats)


@computes("ScatterElements", forms="forward backward")
def scatter_elements(a: Arithmetic, node: Node, x: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> Outputs:
    """Adds updates along the only axis; several updates may target one element, so their order matters."""
    out = a.read(x).copy()
    pairs = list(zip(indices.ravel(), a.read(updates).ravel(), strict=True))
    for k, update in pairs[:: -1 if a.form == "backward" else 1]:
        out[k] = out[k] + update
    return a.stored(out)


@computes("TopK")
def top_k(a: Arithmetic, node: Node, x: np.ndarray, k: np.ndarray) -> Outputs:
    order = np.argsort(-a.read(x), axis=-1, kind="stable")[..., : int(k[0])].astype(np.int64)
    return np.take_along_axis(x, order, axis=-1), order


@computes("Shape", "Size")
def measure(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    return np.array(x.shape if node.op == "Shape" else x.size, np.int64)
