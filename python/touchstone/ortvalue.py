"""OrtValue: a value in memory that Python and a session share the description of, under ONNX Runtime's names."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from touchstone.devices import OrtDevice, OrtMemoryInfo, require_processor
from touchstone.errors import Error, RuntimeException
from touchstone.types import BITS, DTYPES, NAMES, STRING, code_of

_CPU = (1, 0)  # DLPack's type and number of the processor


def element_code(element_type: Any) -> int:
    """Returns the standard's code of an element type: a code, or what numpy takes for a dtype."""
    if isinstance(element_type, int) and not isinstance(element_type, bool):
        if element_type not in NAMES:
            raise Error("usage", f"there is no element type {element_type}")
        return int(element_type)
    code = code_of(np.dtype(element_type))
    if code is None:
        raise Error("usage", f"{np.dtype(element_type)} is no element type of the standard")
    return code


def dtype_of(code: int) -> np.dtype:
    return np.dtype(object) if code == STRING else DTYPES[code]


class OrtValue:
    """A tensor, a sequence, a map or an optional. A tensor is an array, which `numpy()` returns without a copy.

    Made by the class methods, by runs, and by IOBinding.
    """

    def __init__(self, value: Any, type_text: str | None = None):
        if isinstance(value, OrtValue):
            value, type_text = value._value, type_text or value._type
        self._value = value
        self._type = type_text
        if isinstance(value, np.ndarray):
            code = code_of(value.dtype)
            if code is None:
                raise Error("usage", f"an array of {value.dtype} is no value of the standard")
            self._code = code
            self._type = f"tensor({NAMES[code]})"
        elif type_text is None:
            raise Error("usage", f"a value is made of an array, not of Python's type {type(value).__name__}")

    @classmethod
    def ortvalue_from_numpy(
        cls, numpy_obj: np.ndarray, /, device_type: str = "cpu", device_id: int = 0, vendor_id: int = -1
    ) -> OrtValue:
        """Makes a tensor of an array, whose memory it shares if that is contiguous and in native byte order."""
        require_processor(device_type)
        array = np.asarray(numpy_obj)
        code = code_of(array.dtype)
        if code is None:
            raise Error("usage", f"an array of {array.dtype} is no value of the standard")
        return cls(np.asarray(array, dtype=dtype_of(code), order="C"))

    @classmethod
    def ortvalue_from_numpy_with_onnx_type(cls, data: np.ndarray, /, onnx_element_type: int) -> OrtValue:
        """Makes a tensor of the bytes of an array, whose memory it shares, as elements of another type of that size."""
        code = element_code(onnx_element_type)
        if code == STRING or BITS[code] < 8:
            raise Error("unsupported", f"elements of type {NAMES[code]} are not taken as the bytes of an array")
        if data.dtype.itemsize != DTYPES[code].itemsize or not data.flags.c_contiguous:
            raise Error("usage", f"the elements of an array of {data.dtype} are not those of type {NAMES[code]}")
        return cls(data.view(DTYPES[code]))

    @classmethod
    def ortvalue_from_shape_and_type(
        cls,
        shape: Sequence[int],
        element_type: Any,
        device_type: str = "cpu",
        device_id: int = 0,
        vendor_id: int = -1,
        memory_info: OrtMemoryInfo | None = None,
    ) -> OrtValue:
        """Makes a tensor of zeros (empty strings) of a shape and a type."""
        require_processor(device_type)
        code = element_code(element_type)
        sizes = tuple(int(size) for size in shape)
        if any(size < 0 for size in sizes):
            raise Error("usage", f"there is no tensor of shape {list(sizes)}")
        return cls(np.full(sizes, "", dtype=object) if code == STRING else np.zeros(sizes, dtype=DTYPES[code]))

    @classmethod
    def ort_value_from_sparse_tensor(cls, sparse_tensor: Any) -> OrtValue:
        """Refused: sparse tensors do not come from Python."""
        raise Error("unsupported", "a sparse tensor is not taken from Python")

    @classmethod
    def from_dlpack(cls, data: Any, /) -> OrtValue:
        """Makes a tensor of an object with `__dlpack__`, or of a capsule, whose memory it shares."""
        try:
            array = np.from_dlpack(data if hasattr(data, "__dlpack__") else _Capsule(data))
        except (BufferError, TypeError, RuntimeError, ValueError) as error:
            raise RuntimeException("usage", f"this is no tensor in the processor's memory: {error}") from error
        return cls.ortvalue_from_numpy(array)

    def as_sparse_tensor(self) -> Any:
        """Refused: no value is sparse here."""
        raise Error("unsupported", f"a value of type {self._type} is not sparse")

    @property
    def _array(self) -> np.ndarray:
        if not isinstance(self._value, np.ndarray):
            raise RuntimeException("usage", f"a value of type {self._type} is not a tensor")
        return self._value

    def data_ptr(self) -> int:
        """Returns the address of a tensor's elements."""
        if self._array.dtype.hasobject:
            raise RuntimeException("usage", "a tensor of strings has no bytes")
        return int(self._array.ctypes.data)

    def device_name(self) -> str:
        return "cpu"

    def shape(self) -> list[int]:
        return list(self._array.shape)

    def data_type(self) -> str:
        """Returns "tensor(float)" and the like."""
        return self._type or ""

    def element_type(self) -> int:
        """Returns the standard's code of a tensor's elements, or of those of a sequence of tensors."""
        if isinstance(self._value, np.ndarray):
            return self._code
        name = self.data_type().rpartition("(")[2].rstrip(")")
        codes = {name: code for code, name in NAMES.items()}
        if self.is_tensor_sequence() and name in codes:
            return codes[name]
        raise RuntimeException("usage", f"a value of type {self._type} is not a tensor or a sequence of tensors")

    def tensor_size_in_bytes(self) -> int:
        """Returns the bytes of a tensor's elements; those under 8 bits count packed."""
        return -(-self._array.size * BITS[self._code] // 8) if self._code != STRING else self._array.nbytes

    def has_value(self) -> bool:
        return self._value is not None

    def is_tensor(self) -> bool:
        return isinstance(self._value, np.ndarray)

    def is_sparse_tensor(self) -> bool:
        return False

    def is_tensor_sequence(self) -> bool:
        return self.data_type().startswith("seq(tensor(")

    def numpy(self) -> Any:
        """Returns the array that holds a tensor's elements, or the Python form of another value."""
        return self._value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._array, dtype=dtype, copy=copy)

    def __dlpack__(self, **settings: Any) -> Any:
        try:
            return self._array.__dlpack__(**settings)
        except BufferError as error:
            raise RuntimeException("unsupported", f"numpy does not share a {self._type}: {error}") from error

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU

    def update_inplace(self, data: Any) -> None:
        """Copies an array, or a tensor, of this type and size to this tensor's memory."""
        source = data._array if isinstance(data, OrtValue) else data
        if not isinstance(source, np.ndarray):
            raise TypeError(f"a tensor is updated from an array or an OrtValue, not from {type(data).__name__}")
        array = self._array
        if code_of(source.dtype) != self._code or source.size != array.size:
            raise RuntimeException(
                "usage",
                f"an array of {source.dtype} with shape {list(source.shape)} does not fit a value of type "
                f"{self._type} with shape {self.shape()}",
            )
        if not array.flags.writeable:
            raise RuntimeException("usage", "the memory of this value is read-only")
        array[...] = source.reshape(array.shape)

    def _get_c_value(self) -> OrtValue:
        return self


class _Capsule:
    """A DLPack capsule as the object that numpy takes."""

    def __init__(self, capsule: Any):
        self.capsule = capsule

    def __dlpack__(self, **settings: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU


class OrtValueVector(list[OrtValue]):
    """A list of values, with ONNX Runtime's methods."""

    def push_back(self, value: OrtValue) -> None:
        self.append(value)

    def reserve(self, count: int) -> None:
        """Does nothing: a list grows by itself."""

    def shrink_to_fit(self) -> None:
        """Does nothing: a list has the size that it needs."""

    def element_type_at(self, index: int) -> int:
        return self[index].element_type()

    def dlpack_at(self, index: int) -> Any:
        return self[index].__dlpack__()

    def to_dlpacks(self, to_tensor: Any = None) -> list[Any]:
        return [each.__dlpack__() if to_tensor is None else to_tensor(each.__dlpack__()) for each in self]

    def bool_tensor_indices(self) -> list[int]:
        return [k for k, each in enumerate(self) if each.data_type() == "tensor(bool)"]


def at_address(address: int, element_type: Any, shape: Iterable[int]) -> np.ndarray:
    """Returns the array of the caller's memory at an address."""
    code = element_code(element_type)
    if code == STRING:
        raise Error("usage", "strings are not at an address")
    dtype, sizes = DTYPES[code], tuple(int(size) for size in shape)
    count = int(np.prod(sizes, dtype=np.int64))
    if any(size < 0 for size in sizes) or (count and not address):
        raise Error("usage", f"there is no memory of shape {list(sizes)} at the address {address}")
    if count == 0:
        return np.empty(sizes, dtype=dtype)
    held = (ctypes.c_uint8 * (count * dtype.itemsize)).from_address(int(address))
    return np.frombuffer(held, dtype=dtype, count=count).reshape(sizes)


def copy_tensors(src: Sequence[OrtValue], dst: Sequence[OrtValue], stream: Any = None) -> None:
    """Copies each tensor of `src` to the memory of the one of `dst`."""
    for source, target in zip(src, dst, strict=True):
        target.update_inplace(source)


def on_processor(device: OrtDevice | str) -> None:
    """Raises Error for another device."""
    if isinstance(device, str):
        require_processor(device)
    elif device.device_type() != 0:
        raise Error("unsupported", "there is no memory of another device here", help="use OrtDevice.make('cpu', 0)")
