"""Messages of the library, as records of Python's `logging`: its loggers are touchstone.<part>."""

from __future__ import annotations

from typing import Any

from touchstone import _native
from touchstone.errors import Error

INFO, WARNING = 1, 2  # of ONNX Runtime's severities, 0 to 4
_LEVELS = (10, 20, 30, 40, 50)

# Messages below it are dropped, whatever the loggers take.
severity = WARNING


def set_severity(least: Any) -> None:
    """Passes messages of this severity and above on to `logging`: 0 verbose, 1 info, 2 warning, 3 error, 4 fatal."""
    global severity
    if isinstance(least, bool) or not hasattr(least, "__index__") or not 0 <= least.__index__() < len(_LEVELS):
        raise Error("usage", f"a severity is a number from 0 to {len(_LEVELS) - 1}, not {least!r}")
    severity = least.__index__()
    _native.log_from(severity)


def write(said: int, part: str, message: str) -> None:
    """Writes a message if its severity is wanted."""
    if said < severity:
        return
    import logging

    logging.getLogger(f"touchstone.{part}").log(_LEVELS[said], "%s", message)
