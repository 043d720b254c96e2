"""Converts between Python values and session values.

A tensor is an array (of str for strings), a sequence a list, an empty optional None, a map a dict. An input's declared
type resolves ambiguities: whether a value is optional, and the element type of an empty list.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from touchstone import _native
from touchstone.errors import Error
from touchstone.types import CODES, DTYPES, SIGN_SHIFT, STRING, code_of

Value = Any  # an array, a list of values, None, a dict


def feed(name: str, value: Value, declared: _native.ValueType) -> _native.Value:
    """Converts a value fed to input `name`. Its memory is copied, so later writes by Python have no effect. Raises
    Error.
    """
    try:
        return _given(value, declared)
    except Error as error:
        error.place = error.place or _place(name)
        raise
    except _Unlike as unlike:
        problem = f"'{name}' is {unlike}, but is declared as {declared}"
    _native.refuse("feed/type", problem, _place(name))


def _place(name: str) -> str:
    return f"input '{name}', main graph"


class _Unlike(Exception):
    """Describes a value that does not have the declared kind."""


def _given(value: Value, declared: _native.ValueType) -> _native.Value:
    kind = declared.kind
    if kind == "tensor":
        return tensor(_array(value, declared))
    if kind == "optional":
        return _native.Value.optional(declared, None if value is None else _given(value, declared.inner))
    if kind == "sequence":
        if not isinstance(value, list | tuple):
            raise _Unlike(_described(value))
        return _native.Value.sequence(declared, [_given(each, declared.inner) for each in value])
    if kind == "map":
        if not isinstance(value, dict):
            raise _Unlike(_described(value))
        key = str if declared.element == STRING else int | np.integer
        for each in value:
            if not isinstance(each, key) or isinstance(each, bool):
                raise _Unlike(f"a dict with the key {each!r}")
        held = [_given(_scalar(each, declared.inner), declared.inner) for each in value.values()]
        keys = list(value) if declared.element == STRING else [int(each) for each in value]
        return _native.Value.map(declared, keys, held)
    raise Error("unsupported", f"a value of type {declared} is not taken from Python")


def _described(value: Value) -> str:
    return f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"of Python's type {type(value).__name__}"


def _array(value: Value, declared: _native.ValueType) -> np.ndarray:
    """Converts to an array: numpy arrays and scalars, and objects that implement __array__ or __dlpack__. Plain numbers
    and strings, and lists of them, take the declared type.
    """
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, list | tuple):
        if _is_plain(value):
            return _scalar(value, declared)
        raise _Unlike(_described(value))
    if isinstance(value, int | float | str | bytes) and not isinstance(value, np.generic):
        return _scalar(value, declared)
    if isinstance(value, np.generic) or hasattr(value, "__array__"):
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    raise _Unlike(_described(value))


def _is_plain(value: Value) -> bool:
    """True for a list, to any depth, of Python's own numbers and strings."""
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return isinstance(value, int | float | complex | str | bytes)


def _scalar(value: Value, declared: _native.ValueType) -> Value:
    """Converts a plain number or string, or a list of them, to an array of the declared type."""
    if not isinstance(value, int | float | complex | str | bytes | list | tuple) or declared.kind != "tensor":
        return value
    try:
        return np.array(value, dtype=object if declared.element == STRING else DTYPES[declared.element])
    except (TypeError, ValueError, OverflowError) as error:
        raise _Unlike(f"the value {value!r}") from error


def tensor(array: np.ndarray) -> _native.Value:
    """Copies an array to a native tensor."""
    code = CODES.get(array.dtype)
    if code is not None and array.flags.c_contiguous:  # most feeds, and the shortest path
        return _native.Value.tensor(code, array.shape, array.reshape(-1).view(np.uint8))
    code = code_of(array.dtype)
    if code is None:
        raise _Unlike(_described(array))
    if code == STRING:
        texts = array.reshape(-1).tolist()
        for each in texts:
            if not isinstance(each, str | bytes):
                raise _Unlike(f"an array with an element of Python's type {type(each).__name__}")
        try:
            return _native.Value.strings(array.shape, texts)
        except UnicodeEncodeError as error:
            raise _Unlike(f"an array with the text {error.object!r}, which has no bytes") from error
    plain = np.ascontiguousarray(array, dtype=DTYPES[code])  # in native byte order
    return _native.Value.tensor(code, array.shape, plain.reshape(-1).view(np.uint8))


def taken(value: _native.Value) -> Value:
    """Converts a session's output to a Python value that owns writable memory."""
    kind = value.type.kind
    if kind == "tensor":
        return _read(value)
    if kind == "optional":
        item = value.item()
        return None if item is None else taken(item)
    if kind in ("sequence", "map") and (plain := value.plain_maps()) is not None:  # a row of scores each
        return plain
    if kind == "sequence":
        return [taken(each) for each in value.items()]
    if kind == "map":
        held = ((key, taken(each)) for key, each in value.entries())
        return {key: each.item() if isinstance(each, np.ndarray) and each.ndim == 0 else each for key, each in held}
    raise Error("unsupported", f"a value of type {value.type} is not given to Python")


def _read(value: _native.Value) -> np.ndarray:
    code = value.type.element
    array = np.empty(tuple(value.shape), dtype=object if code == STRING else DTYPES[code])
    fill(array, value)
    return array


def fill(array: np.ndarray, value: _native.Value) -> None:
    """Copies a native tensor into a contiguous array of its type and shape."""
    code = value.type.element
    if code == STRING:
        array.reshape(-1)[:] = value.texts()
        return
    codes = array.reshape(-1).view(np.uint8)
    value.copy_into(codes)
    if shift := SIGN_SHIFT.get(code):
        codes[...] = ((codes << shift).view(np.int8) >> shift).view(np.uint8)
