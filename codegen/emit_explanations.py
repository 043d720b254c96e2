"""Writes generated/conformance/explanations.cc: which question or erratum names which cases of which suites.

The command has to explain a case without the files of spec/ beside it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import yaml

from codegen.load import load_spec
from codegen.questions import Note, load_notes, suites_named
from codegen.write import run_emitter, write_if_changed

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


def emit(spec: Path, out: Path) -> None:
    rows = yaml.safe_load((spec / "releases.yaml").read_text(encoding="utf-8"))["releases"]
    releases = [row["version"] for row in rows if "wheel" in row]
    pinned = next(row["version"] for row in rows if row.get("pinned"))
    write_if_changed(out, render(load_notes(spec, load_spec(spec)), releases, pinned))


if __name__ == "__main__":
    sys.exit(run_emitter(__doc__, emit))
