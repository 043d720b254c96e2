"""Target onnxruntime: unmodified ONNX Runtime on the CPU, with its own optimizations and choice of kernels."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Any

os.environ["LC_ALL"] = "en_US.UTF-8"
os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # its reports on a user's models, sent by a thread of their own
if (Path(sys.prefix) / "locale").is_dir():  # made by tools/setup.sh: string kernels need it
    os.environ["LOCPATH"] = str(Path(sys.prefix) / "locale")

import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import helper  # noqa: E402
from onnxruntime.capi import onnxruntime_pybind11_state as native  # noqa: E402

from conformance.targets.target import (  # noqa: E402
    InvalidInputError,
    InvalidModelError,
    OutOfMemoryError,
    TargetError,
    UnsupportedError,
)
from conformance.targets.vendors.packed import BITS, pack, unpack  # noqa: E402

# Messages of models that it calls invalid only because its own copy of the standard is older.
LAGS = ("is not a registered function/op", "No Op registered for", "Unrecognized attribute")
PLAIN = {f"tensor({name})" for name in ("float", "double", "float16", "bool", "string", "complex64", "complex128")}
PLAIN |= {f"tensor({sign}int{bits})" for sign in ("", "u") for bits in (8, 16, 32, 64)}
NO_MEMORY = ("Failed to allocate memory", "bad allocation", "std::bad_alloc")


def classified(error: Exception, loading: bool) -> TargetError:
    """Classifies an error by ONNX Runtime's status codes.

    FAIL while loading means that it cannot run the model, so that is a refusal and no fault. While running it is a
    fault.
    """
    text = str(error)
    if any(word in text for word in NO_MEMORY):
        return OutOfMemoryError(text)
    if isinstance(error, native.NotImplemented) or any(word in text for word in LAGS):
        return UnsupportedError(text)
    if isinstance(error, native.InvalidGraph | native.InvalidProtobuf):
        return InvalidModelError(text)
    if isinstance(error, native.InvalidArgument):
        return InvalidModelError(text) if loading else InvalidInputError(text)
    return UnsupportedError(text) if loading and isinstance(error, native.Fail) else TargetError(text)


def is_plain(value: Any) -> bool:
    """True for numpy's own types, which run() accepts directly; types of ml_dtypes need an OrtValue."""
    if isinstance(value, list):
        return all(is_plain(each) for each in value)
    return not isinstance(value, np.ndarray) or value.dtype.isbuiltin == 1 or value.dtype.kind in "OU"


def held(array: np.ndarray) -> onnxruntime.OrtValue:
    """Returns an OrtValue of a small type: elements of less than a byte are packed, the first one in the lowest
    bits."""
    code = helper.np_dtype_to_tensor_dtype(array.dtype)
    array = np.ascontiguousarray(array).reshape(array.shape)
    if code in BITS:
        shared = pack(array, code)
        padded = np.zeros(array.shape, np.uint8)  # the shape counts elements; the runtime reads only the first bytes
        padded.reshape(-1)[: shared.size] = shared
        array = padded
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(array, code)


def unpacked(value: onnxruntime.OrtValue) -> np.ndarray:
    """Returns a value of the runtime as an array with numpy's name for its type."""
    code, shape = value.element_type(), value.shape()
    dtype = helper.tensor_dtype_to_np_dtype(code)
    raw = np.frombuffer(ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes()), np.uint8)
    if code in BITS:
        return unpack(raw, code, shape)
    return raw.view(dtype)[: int(np.prod(shape, dtype=np.int64))].reshape(shape).copy()


class OnnxRuntime:
    version = onnxruntime.__version__

    def __init__(self) -> None:
        onnxruntime.set_default_logger_severity(4)

    def load(self, model: bytes, options: dict[str, str]) -> onnxruntime.InferenceSession:
        return self.open(model, options)

    def open(self, model: bytes | str, options: dict[str, str]) -> onnxruntime.InferenceSession:
        """Opens a session. With a path the runtime also finds external data. `optimise=no` disables graph
        optimizations."""
        settings = onnxruntime.SessionOptions()
        if options.get("optimise", "yes") == "no":
            settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        settings.intra_op_num_threads = int(options.get("threads", "1"))
        settings.inter_op_num_threads = 1
        settings.log_severity_level = 4
        try:
            return onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise classified(error, loading=True) from error

    def run(self, loaded: onnxruntime.InferenceSession, feeds: dict[str, Any]) -> dict[str, Any]:
        names = [each.name for each in loaded.get_outputs()]
        everyday = all(map(is_plain, feeds.values())) and all(
            each.type in PLAIN or not each.type.startswith("tensor") for each in loaded.get_outputs()
        )
        try:
            outputs = loaded.run(None, feeds) if everyday else self.run_native(loaded, feeds)
        except Exception as error:
            raise classified(error, loading=False) from error
        return dict(zip(names, outputs, strict=True))

    def run_native(self, loaded: onnxruntime.InferenceSession, feeds: dict[str, Any]) -> list[Any]:
        from_numpy = onnxruntime.OrtValue.ortvalue_from_numpy
        given = {name: from_numpy(value) if is_plain(value) else held(value) for name, value in feeds.items()}
        outputs = loaded.run_with_ort_values(None, given)
        return [each.numpy() if each.data_type() in PLAIN else unpacked(each) for each in outputs]
