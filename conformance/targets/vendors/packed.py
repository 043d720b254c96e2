"""Elements of a few bits, which runtimes keep packed: the first element is in the lowest bits of a byte."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto, helper

BITS = {
    TensorProto.INT4: 4,
    TensorProto.UINT4: 4,
    TensorProto.FLOAT4E2M1: 4,
    TensorProto.INT2: 2,
    TensorProto.UINT2: 2,
}


def pack(array: np.ndarray, code: int) -> np.ndarray:
    """Returns the bytes of an array whose elements numpy keeps in a byte each."""
    bits = BITS[code]
    each = array.reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    each = np.pad(each, (0, -each.size % (8 // bits))).reshape(-1, 8 // bits)
    return np.bitwise_or.reduce(each << (np.arange(8 // bits, dtype=np.uint8) * bits), axis=1).astype(np.uint8)


def unpack(raw: np.ndarray, code: int, shape: Sequence[int]) -> np.ndarray:
    """Returns the array of packed bytes, with numpy's name for its type."""
    bits = BITS[code]
    each = raw[:, None] >> (np.arange(8 // bits, dtype=np.uint8) * bits) & ((1 << bits) - 1)
    each = each.reshape(-1)[: int(np.prod(shape, dtype=np.int64))].astype(np.uint8)
    return each.view(helper.tensor_dtype_to_np_dtype(code)).reshape(shape)
