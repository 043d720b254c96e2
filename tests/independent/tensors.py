"""Values of the interpreter: tensors of exact elements, and conversions to and from numpy arrays."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.independent import formats
from tests.independent.indices import Indices, box, count
from tests.independent.refusal import LeftOut, Refusal

DTYPES = {
    "float": np.float32, "double": np.float64, "float16": np.float16, "bool": np.bool_,
    **{f"{u}int{n}": getattr(np, f"{u}int{n}") for u in ("", "u") for n in (8, 16, 32, 64)},
    "complex64": np.complex64, "complex128": np.complex128, "bfloat16": ml_dtypes.bfloat16,
    "float8e4m3fn": ml_dtypes.float8_e4m3fn, "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2": ml_dtypes.float8_e5m2, "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8e8m0": ml_dtypes.float8_e8m0fnu, "float4e2m1": ml_dtypes.float4_e2m1fn,
    "float6e2m3": ml_dtypes.float6_e2m3fn, "float6e3m2": ml_dtypes.float6_e3m2fn,
    "int4": ml_dtypes.int4, "uint4": ml_dtypes.uint4, "int2": ml_dtypes.int2, "uint2": ml_dtypes.uint2,
}  # fmt: skip
NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
MAX_ELEMENTS = 2_000_000


class Tensor:
    """A tensor of exact values; `at` maps points to elements."""

    __slots__ = ("_at", "shape", "type", "values")

    def __init__(self, type_: str, shape: Indices, values: list[Any] | None = None):
        self.type, self.shape = type_, tuple(shape)
        self.values = values
        self._at: dict[Indices, Any] | None = None
        if values is None:
            if any(d < 0 for d in self.shape):
                raise Refusal(f"there is no shape {list(self.shape)}")
            if count(self.shape) > MAX_ELEMENTS:
                raise LeftOut(f"size: a tensor of {count(self.shape)} elements")
            self._at = {}

    @property
    def at(self) -> dict[Indices, Any]:
        if self._at is None:
            self._at = dict(zip(box(self.shape), self.values or [], strict=True))
        return self._at

    def read(self, point: Indices) -> Any:
        try:
            return self.at[point]
        except KeyError:
            raise Refusal(f"element {list(point)} is read of a tensor of shape {list(self.shape)}") from None

    def flat(self) -> list[Any]:
        """The elements in row-major order."""
        if self.values is not None:
            return self.values
        at = self._at or {}
        return [at[point] for point in box(self.shape)]

    @property
    def only(self) -> Any:
        values = self.flat()
        if len(values) != 1:
            raise Refusal(f"one number is wanted, but the tensor has shape {list(self.shape)}")
        return values[0]

    def view(self, shape: Indices) -> Tensor:
        if count(shape) != count(self.shape):
            raise Refusal(f"shape {list(self.shape)} is no view of {list(shape)}")
        if any(d < 0 for d in shape):
            raise Refusal(f"there is no shape {list(shape)}")
        return Tensor(self.type, shape, self.flat())

    def permuted(self, order: Indices) -> Tensor:
        if sorted(order) != list(range(len(self.shape))):
            raise Refusal(f"{list(order)} is no order of {len(self.shape)} dimensions")
        made = Tensor(self.type, tuple(self.shape[k] for k in order), [])
        made.values = None
        made._at = {tuple(point[k] for k in order): value for point, value in self.at.items()}
        return made


ABSENT = Tensor("", (), [])  # an omitted optional input: no element, and the shape of a scalar
ABSENT._at = {}


class Sequence(list[Any]):
    """A sequence; `of` is the type of its items in the notation of entries: float."""

    def __init__(self, of: str, items: list[Any]):
        super().__init__(items)
        self.of = of


class Optional:
    def __init__(self, of: str, value: Any):
        self.of, self.value = of, value


class Map(dict[Any, Any]):
    def __init__(self, key: str, of: str, items: dict[Any, Any]):
        super().__init__(items)
        self.key, self.of = key, of


def stored(value: Any) -> Any:
    """Rounds the floats of a value to their type, as between nodes."""
    if isinstance(value, Tensor) and value.type in formats.FORMATS and formats.is_float(value.type):
        return Tensor(value.type, value.shape, [formats.fit(value.type, each) for each in value.flat()])
    if isinstance(value, Sequence):
        return Sequence(value.of, [stored(each) for each in value])
    return value


def type_text(value: Any) -> str:
    """The type of a value in the notation of entries: float, seq(float), optional(seq(float)), map(int64,float)."""
    if isinstance(value, Tensor):
        return value.type
    if isinstance(value, Sequence):
        return f"seq({value.of})"
    if isinstance(value, Optional):
        return f"optional({value.of})"
    return f"map({value.key},{value.of})"


def from_array(array: np.ndarray, declared: str = "") -> Tensor:
    array = np.asarray(array)
    if array.dtype.kind in "OUST":
        values = [
            each.decode("utf-8", "surrogateescape") if isinstance(each, bytes) else str(each) for each in array.flat
        ]
        return Tensor("string", array.shape, values)
    name = NAMES[array.dtype]
    if name in ("complex64", "complex128"):
        part = "float" if name == "complex64" else "double"
        flat = np.ascontiguousarray(array).reshape(-1)
        both = (from_array(flat.real, part).flat(), from_array(flat.imag, part).flat())
        return Tensor(name, array.shape, list(zip(*both, strict=True)))
    flat = np.ascontiguousarray(array).reshape(-1)
    if formats.FORMATS[name].bits >= 8 and array.dtype.kind in "iub":
        return Tensor(name, array.shape, flat.tolist())
    codes = flat.view(f"u{flat.dtype.itemsize}").tolist()
    mask = (1 << formats.FORMATS[name].bits) - 1
    return Tensor(name, array.shape, [formats.decode(name, code & mask) for code in codes])


def to_array(tensor: Tensor) -> np.ndarray:
    name, values = tensor.type, tensor.flat()
    if name == "string":
        made = np.empty(len(values), dtype=object)
        made[:] = values
        return made.reshape(tensor.shape)
    dtype = np.dtype(DTYPES[name])
    if name in ("complex64", "complex128"):
        part = "float" if name == "complex64" else "double"
        both = [to_array(Tensor(part, (len(values),), [value[k] for value in values])) for k in (0, 1)]
        made = np.empty(len(values), dtype=dtype)
        made.real, made.imag = both
        return made.reshape(tensor.shape)
    codes = [formats.encode(name, value) for value in values]
    form = formats.FORMATS[name]
    if form.kind == "integer" and form.bits < 8 and form.signed:
        codes = [code | (0xFF << form.bits & 0xFF) if code >> (form.bits - 1) else code for code in codes]
    return np.array(codes, dtype=f"u{dtype.itemsize}").view(dtype).reshape(tensor.shape)
