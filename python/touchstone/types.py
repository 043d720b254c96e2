"""Element types: the standard's codes and the corresponding numpy and ml_dtypes types."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from touchstone import _native

# Standard names that differ from numpy's.
_OTHER_NAMES = {
    "float": np.float32,
    "double": np.float64,
    "bool": np.bool_,
    "bfloat16": ml_dtypes.bfloat16,
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8e8m0": ml_dtypes.float8_e8m0fnu,
    "float6e2m3": ml_dtypes.float6_e2m3fn,
    "float6e3m2": ml_dtypes.float6_e3m2fn,
    "float4e2m1": ml_dtypes.float4_e2m1fn,
    "uint4": ml_dtypes.uint4,
    "int4": ml_dtypes.int4,
    "uint2": ml_dtypes.uint2,
    "int2": ml_dtypes.int2,
}

STRING = next(code for code, name, _, _ in _native.element_types() if name == "string")

NAMES: dict[int, str] = {code: name for code, name, _, _ in _native.element_types()}
BITS: dict[int, int] = {code: bits for code, _, bits, _ in _native.element_types()}
DTYPES: dict[int, np.dtype] = {
    code: np.dtype(_OTHER_NAMES.get(name, name)) for code, name, _, _ in _native.element_types() if code != STRING
}
CODES: dict[np.dtype, int] = {dtype: code for code, dtype in DTYPES.items()}

# Signed integers under 8 bits: numpy's byte is sign-extended, ours has zeros in the upper bits.
SIGN_SHIFT: dict[int, int] = {
    code: 8 - bits for code, _, bits, is_signed in _native.element_types() if is_signed and 0 < bits < 8
}


def code_of(dtype: np.dtype) -> int | None:
    """Returns the standard's code for arrays of this dtype, in any byte order; None if there is none. Object arrays are
    assumed to be strings, which is checked when they are read.
    """
    if dtype.kind in "OUST":
        return STRING
    return CODES.get(dtype if dtype.isnative else dtype.newbyteorder("="))
