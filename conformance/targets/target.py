"""What a Python runtime implements to be a target. `python:MODULE:CLASS` names the class; nothing else is needed.

    class Mine:
        version = "1.0"                                  # optional
        def load(self, model, options): ...              # bytes of a ModelProto -> any object
        def run(self, loaded, feeds): ...                # {name: array} -> {name: array}
        def caps(self): ...                              # optional: {"ir_version": 13, "opsets": {"": 26}}

Arrays are numpy's, with ml_dtypes for the small types; a sequence is a list, an empty optional is None. `options` is a
dict of strings: what stood behind the target's name, and "path", the model's file, beside which external data lie.
The class needs not know this module: it may raise the errors below, or any exception of its own that has an attribute
`touchstone_fault` with one of their names; all else counts as an internal error of the target.
"""

from __future__ import annotations

from typing import Any, Protocol

from conformance.targets.wire import Fault


class TargetError(Exception):
    """A refusal that says what kind it is."""

    fault = Fault.INTERNAL


class UnsupportedError(TargetError):
    """Valid, but this runtime does not do it."""

    fault = Fault.UNSUPPORTED


class InvalidModelError(TargetError):
    """The runtime holds that the model breaks a rule of the standard."""

    fault = Fault.INVALID_MODEL


class InvalidInputError(TargetError):
    """The runtime holds that a value it was fed breaks a rule."""

    fault = Fault.INVALID_INPUT


class OutOfMemoryError(TargetError):
    fault = Fault.OUT_OF_MEMORY


class Target(Protocol):
    def load(self, model: bytes, options: dict[str, str]) -> Any: ...

    def run(self, loaded: Any, feeds: dict[str, Any]) -> dict[str, Any]: ...
