"""Runs lines through the reference: lines_probe as a child process, restarted whenever a line crashes it."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SECONDS, SECONDS_JUDGED = 5, 60  # CPU time limit of one line
TOGETHER = 20_000  # lines passed to one process


def outcomes(binary: Path, lines: Iterable[str], mutants: str = "") -> list[dict[str, Any]]:
    """One row a line, in order: {rule, kind, fresh ..}, or {died} if the line ended the process.

    `mutants` adds {judged, faults, forms}: "new" mutants that the line kills, or "all" of them.
    """
    left, found = list(lines), []
    while left:
        rows = once(binary, left[:TOGETHER], mutants)
        found += rows
        left = left[len(rows) :]
    return found


def once(binary: Path, lines: list[str], mutants: str) -> list[dict[str, Any]]:
    command = [str(binary), *([str(SECONDS_JUDGED), mutants] if mutants else [str(SECONDS)])]
    with tempfile.TemporaryFile("w+b") as asked:  # a pipe could fill up, since output is read only at the end
        asked.write("".join(f"{line}\n" for line in lines).encode())
        asked.seek(0)
        done = subprocess.run(command, stdin=asked, capture_output=True, check=False)
    rows = [json.loads(row) for row in done.stdout.decode(errors="replace").splitlines()]
    if done.returncode and len(rows) < len(lines):
        rows.append({"died": done.returncode})
    elif len(rows) != len(lines):
        said = done.stderr.decode(errors="replace")
        raise RuntimeError(f"{binary} answered {len(rows)} of {len(lines)} lines: {said}")
    return rows
