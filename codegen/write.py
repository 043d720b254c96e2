"""What all emitters share: their command line, and writing a product only where its text changed, so that a build does
not compile again what is the same."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from codegen.entry import SpecError


def write_if_changed(file: Path, text: str) -> bool:
    """True if the file was written."""
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
    """The main of an emitter: --spec FOLDER, --out FILE or FOLDER. A mistake in an entry is said, and gives 1. Where
    not all versions fit, --unfit prints which do not, with the reason, and writes nothing."""
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
