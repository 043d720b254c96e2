"""Code that is compiled for an instruction set runs only where it was chosen."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

FOLDERS = Path(os.environ["TOUCHSTONE_BUILD"]) / "optimized" / "CMakeFiles"
SETS = ("sse41", "avx2", "avx512", "vnni", "amx")
OBJECTS = [(name, path) for name in SETS for path in sorted(FOLDERS.glob(f"*_{name}.dir/**/*.o"))]


def shared_symbols(listed: str) -> list[str]:
    """The symbols of `nm`'s output that a linker takes from any object that defines them."""
    return [line for line in listed.splitlines() if re.match(r"[0-9a-f]+ [WVu] ", line)]


def test_a_shared_symbol_is_seen() -> None:
    assert shared_symbols("0000 W inline_function\n0000 T kernel\n     U memcpy") == ["0000 W inline_function"]


def test_there_are_objects_of_each_set() -> None:
    assert {name for name, _ in OBJECTS} >= {"sse41", "avx2", "avx512"}


@pytest.mark.parametrize(("name", "path"), OBJECTS, ids=[f"{name}-{path.stem}" for name, path in OBJECTS])
def test_an_object_shares_no_code(name: str, path: Path) -> None:
    """An inline function of both an object for AVX-512 and one for any processor could run anywhere."""
    listed = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    assert shared_symbols(listed) == [], name
