"""Writes api/abi.xml, the binary interface that the header declares: python -m tests.consumers.write_abi

abidw reads it from the debug information of a library that has the same symbol and SONAME, and nothing behind them.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "include" / "touchstone" / "touchstone.h"
ABI = ROOT / "api" / "abi.xml"

SOURCE = """#include "touchstone.h"
const ts_api* ts_get_api(uint32_t version) { return version > 0 ? (const ts_api*)0 : (const ts_api*)0; }
"""


def library(header: str, folder: Path) -> Path:
    """Makes a library with debug information of this header's text."""
    (folder / "touchstone.h").write_text(header, encoding="utf-8")
    (folder / "interface.c").write_text(SOURCE, encoding="utf-8")
    command = ["gcc", "-g", "-shared", "-fPIC", "-Wl,-soname,libtouchstone.so.0", "interface.c", "-o", "interface.so"]
    subprocess.run(command, check=True, cwd=folder)
    return folder / "interface.so"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        made = library(HEADER.read_text(encoding="utf-8"), Path(name))
        words = ["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--type-id-style", "hash"]
        subprocess.run(["abidw", *words, "--out-file", ABI, made], check=True)
