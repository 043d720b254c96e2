"""Writes the cases of some operator families, runs `conform` with the numpy target on them, and reads its verdicts."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.faithful.cases import write
from tests.faithful.report import Judged

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
TARGET = "python:tests.faithful.target:Faithful"
MEMORY = Path("/dev/shm")


class BrokenRunError(Exception):
    """Raised if the run itself failed."""


def judged(
    forms: Iterable[str], every: int = 1, only: str = "", target: str = TARGET, jobs: int = 2, build: Path = BUILD
) -> list[Judged]:
    """Judges the cases; the many small files are in memory where /dev/shm exists."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None, prefix="touchstone-faithful-") as made:
        suite, said = Path(made) / "suite", Path(made) / "said.json"
        if write(forms, suite, every, only) == 0:
            return []
        command = [build / "touchstone", "conform", "--suite", suite, "--target", target, "--json", said, "--runs", 1]
        done = subprocess.run(
            [str(word) for word in (*command, "--jobs", jobs)], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if done.returncode not in (0, 1):
            raise BrokenRunError(f"conform ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
        cases = json.loads(said.read_text(encoding="utf-8"))["runs"][0]["cases"]
    return [Judged.of(case) for case in cases]
