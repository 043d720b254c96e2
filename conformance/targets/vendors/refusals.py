"""Kinds of errors of OpenVINO, TVM and tract. Needs none of them: types of errors are known by name.

A failure while loading means that the runtime cannot run the model: a refusal. While running it is a fault, unless the
text says otherwise.
"""

from __future__ import annotations

import re
import traceback

from conformance.targets.target import (
    InvalidInputError,
    InvalidModelError,
    OutOfMemoryError,
    TargetError,
    UnsupportedError,
)

NO_MEMORY = re.compile(r"bad_alloc|Failed to allocate")
LACKS = re.compile(r"not ?(supported|implemented)|unimplemented|unsupported|(doesn't|does not) support", re.IGNORECASE)


def by_text(text: str, loading: bool, invalid: re.Pattern[str], bad_feed: re.Pattern[str]) -> TargetError:
    if NO_MEMORY.search(text):
        return OutOfMemoryError(text)
    if loading:
        return InvalidModelError(text) if invalid.search(text) else UnsupportedError(text)
    if bad_feed.search(text):
        return InvalidInputError(text)
    return UnsupportedError(text) if LACKS.search(text) else TargetError(text)


def of_openvino(error: Exception, loading: bool) -> TargetError:
    """Classifies an error by its text: every one is a RuntimeError."""
    if isinstance(error, MemoryError):
        return OutOfMemoryError(str(error))
    invalid = re.compile(
        r"node not found in graph cache|Please check if the model format is supported and model is correct"
    )
    return by_text(str(error).strip(), loading, invalid, re.compile(r"Can't set the input tensor|ParameterMismatch"))


def of_tract(error: Exception, loading: bool) -> TargetError:
    """Classifies an error by its text: every one of the runtime is a TractError, others are faults of its binding."""
    if isinstance(error, MemoryError):
        return OutOfMemoryError(str(error))
    if type(error).__name__ != "TractError":
        return TargetError(f"{type(error).__name__}: {error}")
    invalid = re.compile(r"failed to decode Protobuf|Could not resolve inputs")
    return by_text(str(error).strip(), loading, invalid, re.compile(r"^Clashing resolution|^Input at index"))


def is_meant(error: Exception) -> bool:
    """True if a statement of the frontend or a check in C++ raised it, not Python where the frontend has a fault."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return (
        isinstance(error, AssertionError) or not last.filename.endswith(".py") or (last.line or "").startswith("raise")
    )


def of_tvm(error: Exception, loading: bool) -> TargetError:
    """Classifies an error by its type, and by what raised it."""
    text = f"{type(error).__name__}: {error}"
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "MemoryError" in kinds or NO_MEMORY.search(text):
        return OutOfMemoryError(text)
    if kinds & {"OpAttributeInvalid", "OpAttributeRequired"}:
        return InvalidModelError(text)
    if "NotImplementedError" in kinds:
        return UnsupportedError(text)
    if not loading:
        return InvalidInputError(text) if re.search(r"loc=param\[|Invoking function main", text) else TargetError(text)
    return UnsupportedError(text) if "InternalError" not in kinds and is_meant(error) else TargetError(text)
