"""Interface of a target written in Python. `python:MODULE:CLASS` names the class; nothing else is needed.

    class Mine:
        version = "1.0"                                  # optional
        def load(self, model, options): ...              # bytes of a ModelProto -> any object
        def run(self, loaded, feeds): ...                # {name: array} -> {name: array}
        def caps(self): ...                              # optional: {"ir_version": 13, "opsets": {"": 26}}

Arrays are numpy's, with ml_dtypes for the small types; a sequence is a list, an empty optional is None. `options` is a
dict of strings: the options after the target's name, and "path", the model's file, next to which external data is
stored. The class need not import this module. It may raise the errors below, or any exception of its own that has an
attribute `touchstone_fault` with one of their names. All other exceptions count as internal errors of the target.
"""

from __future__ import annotations

from typing import Any, Protocol

from conformance.targets.wire import Fault


class TargetError(Exception):
    """Base class of refusals; `fault` is their kind."""

    fault = Fault.INTERNAL


class UnsupportedError(TargetError):
    """Valid model that this runtime does not support."""

    fault = Fault.UNSUPPORTED


class InvalidModelError(TargetError):
    """The runtime reports that the model violates a rule of the standard."""

    fault = Fault.INVALID_MODEL


class InvalidInputError(TargetError):
    """The runtime reports that a fed value violates a rule."""

    fault = Fault.INVALID_INPUT


class OutOfMemoryError(TargetError):
    fault = Fault.OUT_OF_MEMORY


class Target(Protocol):
    def load(self, model: bytes, options: dict[str, str]) -> Any: ...

    def run(self, loaded: Any, feeds: dict[str, Any]) -> dict[str, Any]: ...
