"""C++ matches .clang-format and Python matches ruff.toml; `make fmt` applies both."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.house.rules import project_files

ROOT = Path(__file__).resolve().parents[2]


def said(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_cpp_is_formatted() -> None:
    generated = ("codegen/golden/",)  # as its generator writes it
    names = [name for name in project_files(ROOT) if name.endswith((".h", ".cc")) and not name.startswith(generated)]
    assert said("clang-format", "--dry-run", "-Werror", *names) == ""


def test_python_is_formatted() -> None:
    assert said(sys.executable, "-m", "ruff", "format", "--check", ".") == ""


def test_python_is_clean() -> None:
    assert said(sys.executable, "-m", "ruff", "check", "--quiet", ".") == ""
