"""C++ matches .clang-format and Python matches ruff.toml; `make fmt` applies both."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def said(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def files_of(*patterns: str) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, capture_output=True, check=True)
    return [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).exists()]


def test_cpp_is_formatted() -> None:
    written_by_hand = [name for name in files_of("*.h", "*.cc") if not name.startswith("codegen/golden/")]
    assert said("clang-format", "--dry-run", "-Werror", *written_by_hand) == ""


def test_python_is_formatted() -> None:
    assert said(sys.executable, "-m", "ruff", "format", "--check", ".") == ""


def test_python_is_clean() -> None:
    assert said(sys.executable, "-m", "ruff", "check", "--quiet", ".") == ""
