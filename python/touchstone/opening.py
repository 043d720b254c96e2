"""Opening of models: files, bytes, external data from memory, and the native settings of a session."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from touchstone import _native, values
from touchstone.errors import Error, Fail, ModelLoadCanceled
from touchstone.options import DATA_FOLDER, SessionOptions
from touchstone.ortvalue import OrtValue


def is_bytes(model: Any) -> bool:
    return isinstance(model, bytes | bytearray | memoryview)


def profile_file(options: SessionOptions) -> str:
    stem = f"{options.profile_file_prefix}_{time.strftime('%Y-%m-%d_%H-%M-%S')}"
    file, count = f"{stem}.json", 1
    while os.path.exists(file):
        count += 1
        file = f"{stem}_{count}.json"
    return file


def settings_of(options: SessionOptions) -> _native.Settings:
    """Converts options that need no model."""
    return _native.settings(
        options.runtime,
        options.intra_op_num_threads,
        options.level_name,
        options.winograd,
        list(options.with_passes),
        list(options.without_passes),
        options.limits,
        options.deadline,
        options.memory_limit,
    )


def opened(model: Any, options: SessionOptions) -> _native.Runner:
    native = settings_of(options)
    if options.enable_profiling and options.runtime != "fast":
        raise Error("unsupported", "a profile is of the fast executor's steps", help="leave enable_profiling out")
    native.profile = options.enable_profiling
    native.concurrent_runs = options.concurrent_runs
    native.operators = options._operators
    native.symbols, native.denotations = options._named, options._denoted
    for name, value in options._initializers.items():
        native.replace_initializer(name, values.tensor(OrtValue(value)._array))
    if options.optimized_model_filepath:
        if options.optimized_model_filepath.lower().endswith(".ort"):
            raise Error("unsupported", "a model is not saved in the format ORT", help="name a file .onnx")
        native.write_optimized(os.fsencode(options.optimized_model_filepath))
    try:
        if options._memory_files:
            import tempfile

            with tempfile.TemporaryDirectory() as folder:
                _write_files(folder, options._memory_files)
                return _native.open(_native.Source.bytes(_read(model), os.fsencode(folder)), native, options._stop)
        return _native.open(source_of(model, options._entries.get(DATA_FOLDER, "")), native, options._stop)
    except Fail as error:
        if error.kind == "cancelled":
            raise ModelLoadCanceled(*error.args) from None
        raise


def source_of(model: Any, folder: str = "") -> _native.Source:
    """Returns a model's file or bytes; `folder` holds the external data of bytes."""
    if is_bytes(model):
        return _native.Source.bytes(bytes(model), os.fsencode(folder))
    return _native.Source.file(os.fsencode(model))


def _read(model: Any) -> bytes:
    if is_bytes(model):
        return bytes(model)
    with open(model, "rb") as file:
        return file.read()


def _write_files(folder: str, files: Mapping[str, Any]) -> None:
    root = os.path.realpath(folder)
    for name, content in files.items():
        path = os.path.normpath(os.path.join(root, name))
        if not path.startswith(root + os.sep):
            raise Error("usage", f"the external file '{name}' is not beside the model")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
