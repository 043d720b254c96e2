"""The command that was built with this package: found, and called for what the module itself does not hold.

`judge`, `compare`, `conform` and `spec` take the options of their subcommands as keywords, and return the object of
--json. An option of several words has underscores, one that is a Python word ends with one (class_). True is a flag, a
list repeats the option, and a dict gives NAME=VALUE pairs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from touchstone.errors import Error

_HERE = Path(__file__).resolve().parent
_Path = str | os.PathLike[str]
Report = dict[str, Any]


def found() -> Path | None:
    """Returns the command's file: in the package, or in the build folder that the package lies in."""
    for file in (_HERE / "bin" / "touchstone", _HERE.parent.parent / "touchstone"):
        if file.is_file() and os.access(file, os.X_OK):
            return file
    return None


def environment() -> dict[str, str]:
    """Returns the environment for the command: an installed one starts its workers in Python by this interpreter."""
    own = {"TOUCHSTONE_PYTHON": sys.executable} if found() == _HERE / "bin" / "touchstone" else {}
    return own | os.environ


def required() -> Path:
    """Returns the command's file. Raises Error if there is none."""
    file = found()
    if file is None:
        raise Error(
            "unsupported",
            f"the command is not beside the package in {_HERE}",
            help="build it with `make build`, whose package finds it; touchstone.show, check, optimize and convert "
            "need no command",
        )
    return file


def judge(model: _Path, test_data: _Path, **options: Any) -> Report:
    """Returns the verdict on the outputs in a folder, for the inputs there. No runtime runs."""
    return _told("judge", [model], {"test_data": test_data, **options})


def compare(model: _Path, left: str, right: str, **options: Any) -> Report:
    """Returns the first node at which two targets differ by more than the judge allows."""
    return _told("compare", [model], {"left": left, "right": right, **options})


def conform(target: str | list[str], **options: Any) -> Report:
    """Runs a suite on targets and returns the verdict of each case."""
    return _told("conform", [], {"target": target, **options})


def spec(operator: str | None = None, **options: Any) -> Report:
    """Returns the definition of an operator; without a name, the list of all versions."""
    return _told("spec", [] if operator is None else [operator], {"list": operator is None, **options})


def _words(name: str, value: Any) -> list[str]:
    option = "--" + name.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [option]
    if isinstance(value, Mapping):
        value = [f"{key}={os.fspath(each) if isinstance(each, os.PathLike) else each}" for key, each in value.items()]
    many = value if isinstance(value, list | tuple) else [value]
    return [f"{option}={os.fspath(each) if isinstance(each, os.PathLike) else each}" for each in many]


def _told(subcommand: str, positional: list[Any], options: Mapping[str, Any]) -> Report:
    import json
    import subprocess

    words = [str(required()), subcommand, *map(os.fspath, positional)]
    for name, value in options.items():
        words += _words(name, value)
    done = subprocess.run(
        [*words, "--json"], env=environment(), capture_output=True, text=True, errors="surrogateescape", check=False
    )
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        said = done.stderr.strip().splitlines() or [f"the command ended with {done.returncode}"]
        kind = "usage" if done.returncode == 2 else "internal"
        raise Error(kind, said[0].partition(": ")[2] or said[0], help=" ".join(said[1:]).strip()) from None
    if report.get("schema") == "touchstone.error/1":
        fields = [report[name] for name in ("message", "rule", "rule_text", "spec", "place", "help")]
        raise Error(report["kind"].replace("-", "_"), *fields)
    return report
