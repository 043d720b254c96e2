"""Writes generated/conformance/explanations.cc: which question or erratum names which cases of which suites.

The command has to explain a case without the files of spec/ beside it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import yaml

from codegen.load import load_spec
from codegen.questions import Note, load_notes
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
PINNED = "onnx"


def render(notes: list[Note], pinned: str) -> str:
    """A row for each pattern of each suite; `pinned` is the release that the suite `onnx` is of."""
    rows = []
    for note in notes:
        for suite, patterns in note.cases.items():
            name = f"{PINNED}@{pinned}" if suite == PINNED else suite
            for pattern in patterns:
                cells = ", ".join(json.dumps(cell, ensure_ascii=False) for cell in (note.id, note.title, name, pattern))
                rows.append(f"    {{{cells}}},\n")
    return HEAD + "".join(rows) + TAIL


def emit(spec: Path, out: Path) -> None:
    releases = yaml.safe_load((spec / "releases.yaml").read_text(encoding="utf-8"))["releases"]
    write_if_changed(out, render(load_notes(spec, load_spec(spec)), releases[-1]["version"]))


if __name__ == "__main__":
    sys.exit(run_emitter(__doc__, emit))
