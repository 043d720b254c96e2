"""Writes generated/conformance/explanations.cc: which question or erratum names which cases of which suites.

The command has to explain a case without the files of spec/ beside it.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import yaml

from codegen.entry import SpecError
from codegen.load import load_spec
from codegen.questions import Note, load_notes, suites_named
from codegen.write import write_if_changed

HEAD = """\
// Written by codegen/emit_explanations.py from spec/questions and spec/errata.
#include "conformance/explanations.h"

namespace touchstone {
namespace {

const Explanation table[] = {
"""
TAIL = """\
};

}  // namespace

std::span<const Explanation> explanations() { return table; }

}  // namespace touchstone
"""


def render(notes: list[Note], releases: list[str], pinned: str) -> str:
    """A row for each pattern of each suite; `onnx` is the suite of the pinned one of the releases."""
    rows = []
    for note in notes:
        for key, patterns in note.cases.items():
            for suite in suites_named(key, releases, pinned):
                for pattern in patterns:
                    cells = (note.id, note.title, suite, pattern)
                    rows.append(f"    {{{', '.join(json.dumps(cell, ensure_ascii=False) for cell in cells)}}},\n")
    return HEAD + "".join(rows) + TAIL


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--spec", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="generated/conformance/explanations.cc")
    arguments = parser.parse_args()
    rows = yaml.safe_load((arguments.spec / "releases.yaml").read_text(encoding="utf-8"))["releases"]
    try:
        notes = load_notes(arguments.spec, load_spec(arguments.spec))
        releases = [row["version"] for row in rows if "wheel" in row]
        text = render(notes, releases, next(row["version"] for row in rows if row.get("pinned")))
    except (SpecError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    write_if_changed(arguments.out, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
