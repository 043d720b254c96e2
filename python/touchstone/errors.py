"""Exceptions: one type with message, place, broken rule and help, and its kinds under ONNX Runtime's names."""

from __future__ import annotations

import errno
import os
from typing import Any


def printable(text: str) -> str:
    """Escapes control characters of hostile models for a terminal: \\x1b and the like."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


class Error(Exception):
    """Raised for every failure in Touchstone.

    kind       usage (a feed of the wrong name, type or shape too), invalid_model, invalid_input, unsupported,
               out_of_memory, limit, cancelled, file or internal.
    message    one sentence with the values in it.
    rule       the broken rule: "Clip-13/C1", or one of the format such as "model/cycle"; "" if there is none.
    rule_text  the rule's condition: "rank(min) == 0".
    spec_line  the rule's source line: "spec/ops/ai.onnx/Clip.yaml:12".
    place      "node 'act3' (Clip), output 'act3_out', main graph".
    help       a hint on how to mend it.

    Error(kind, ..) makes the subclass of that kind, so that `except` clauses for ONNX Runtime's exceptions hold.
    """

    def __new__(cls, kind: str = "", message: str = "", rule: str = "", *rest: Any, **named: Any) -> Error:
        chosen = _class_of(kind, message, rule) if cls is Error else cls
        return super().__new__(chosen, kind, message, rule, *rest)

    def __init__(
        self,
        kind: str,
        message: str,
        rule: str = "",
        rule_text: str = "",
        spec_line: str = "",
        place: str = "",
        help: str = "",
    ):
        super().__init__(kind, message, rule, rule_text, spec_line, place, help)
        self.kind = kind
        self.message = message
        self.rule = rule
        self.rule_text = rule_text
        self.spec_line = spec_line
        self.place = place
        self.help = help

    @property
    def touchstone_fault(self) -> str:
        """Kind under which a conformance run counts the error."""
        return self.kind

    def __str__(self) -> str:
        lines = [f"[{self.rule or self.kind}] {self.message}"]
        if self.place:
            lines.append(f"  at    {self.place}")
        if self.rule_text:
            lines.append(f"  rule  {self.rule_text}" + (f"  {self.spec_line}" if self.spec_line else ""))
        if self.help:
            lines.append(f"  help  {self.help}")
        return "\n".join(map(printable, lines))


class Fail(Error):
    """Work that was cancelled, and what has no class of its own."""


class InvalidProtobuf(Fail):
    """A file that is not a model, or not a whole one."""


class InvalidGraph(Fail):
    """A model that breaks a rule of the standard."""


class ModelLoadCanceled(Fail):
    """A load that set_load_cancellation_flag ended."""


class InvalidArgument(Error, ValueError):
    """A wrong call: a feed of the wrong name, type or shape, an unknown option."""


class RuntimeException(Error, RuntimeError):
    """A limit, memory that is not there, or our fault."""


class InvalidInput(InvalidArgument, RuntimeException):
    """A value that breaks an operator's rule at run time, for which ONNX Runtime has both classes."""


class NoSuchFile(Error):
    """A file that is not there."""


class NotImplemented(Error):
    """A valid model or option that Touchstone refuses by name."""


class DeviceReset(Error):
    """Never raised; here so that `except` clauses name a class."""


class EngineError(Error):
    """Never raised; here so that `except` clauses name a class."""


class EPFail(Error):
    """Never raised; here so that `except` clauses name a class."""


class ModelLoaded(Error):
    """Never raised; here so that `except` clauses name a class."""


class ModelRequiresCompilation(Error):
    """Never raised; here so that `except` clauses name a class."""


class NoModel(Error):
    """Never raised; here so that `except` clauses name a class."""


class NotFound(Error):
    """Never raised; here so that `except` clauses name a class."""


_CLASSES: dict[str, type[Error]] = {
    "usage": InvalidArgument,
    "invalid_model": InvalidGraph,
    "invalid_input": InvalidInput,
    "unsupported": NotImplemented,
    "out_of_memory": RuntimeException,
    "limit": RuntimeException,
    "cancelled": Fail,
    "file": Fail,
    "internal": RuntimeException,
}


def _class_of(kind: str, message: str, rule: str) -> type[Error]:
    if kind == "file" and message.endswith(os.strerror(errno.ENOENT)):
        return NoSuchFile
    if rule == "model/parse":
        return InvalidProtobuf
    return _CLASSES.get(kind, Error)


Error.__module__ = "touchstone"
