"""Helpers that all emitters share: their command line, and writing a file only if its text changed, which avoids
recompilation."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from codegen.entry import SpecError


def write_if_changed(file: Path, text: str) -> bool:
    """Returns True if the file was written."""
    if file.is_file() and file.read_text(encoding="utf-8") == text:
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(file.name + ".new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(file)
    return True


def run_emitter(
    doc: str | None,
    emit: Callable[[Path, Path], object],
    unfit: Callable[[Path], Iterable[tuple[str, str]]] | None = None,
) -> int:
    """Main function of an emitter: --spec FOLDER, --out FILE or FOLDER. Prints a mistake in an entry and returns 1.

    If `unfit` is given, --unfit prints the versions that do not fit, with the reason, and writes nothing.
    """
    parser = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    parser.add_argument("--spec", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    if unfit:
        parser.add_argument("--unfit", action="store_true", help="print what does not fit, with the reason, and stop")
    arguments = parser.parse_args()
    try:
        if unfit and arguments.unfit:
            for version, reason in unfit(arguments.spec):
                print(f"{version}: {reason}")
        else:
            emit(arguments.spec, arguments.out)
    except SpecError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0
