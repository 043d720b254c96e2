"""The binary interface of libtouchstone.so.0: api/abi.xml has its symbols, structures and functions' types.

`.venv/bin/python -m tests.consumers.write_abi` writes that file anew, after entries were appended.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.consumers.write_abi import ABI, HEADER, library

pytestmark = pytest.mark.skipif(shutil.which("abidiff") is None, reason="abidiff is not installed")


def difference(made: Path) -> tuple[int, str]:
    """Returns abidiff's status, 0 for none, and its report."""
    done = subprocess.run(["abidiff", ABI, made], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_header_has_the_committed_interface(tmp_path: Path) -> None:
    status, report = difference(library(HEADER.read_text(encoding="utf-8"), tmp_path))
    assert status == 0, report


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        (r"\(\*session_run\)\(ts_session\* session,", "(*session_run)(int more, ts_session* session,"),
        (r"TS_TYPE_FLOAT16 = 10", "TS_TYPE_FLOAT16 = 29"),
        (r"  int32_t rank;", "  int64_t rank;"),
        (r"  void \(\*options_release\)\(ts_options\* options\);\n", ""),
    ],
)
def test_other_interfaces_are_told(written: str, instead: str, tmp_path: Path) -> None:
    header = HEADER.read_text(encoding="utf-8")
    changed = re.sub(written, instead, header, count=1)
    assert changed != header
    assert difference(library(changed, tmp_path))[0] != 0
