"""make coverage: builds with gcov's counters, runs the tests, prints the share of lines run a file, worst first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-coverage"
BIN = ROOT / ".venv" / "bin"


def lines_run() -> dict[str, dict[int, int]]:
    """How often each line ran, by source file of ours; a spec entry is a source file, too (#line)."""
    hits: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for data in BUILD.rglob("*.gcda"):
        text = subprocess.run(
            ["gcov", "--json-format", "--stdout", data], capture_output=True, cwd=BUILD, check=True
        ).stdout
        for document in text.splitlines():
            for file in json.loads(document)["files"]:
                path = Path(file["file"])
                path = path if path.is_absolute() else ROOT / path
                if not path.is_relative_to(ROOT) or path.is_relative_to(BUILD):
                    continue
                for line in file["lines"]:
                    hits[str(path.relative_to(ROOT))][line["line_number"]] += line["count"]
    return hits


def main() -> int:
    for command in (["cmake", "--preset", "coverage"], ["cmake", "--build", "--preset", "coverage"]):
        subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    for old in BUILD.rglob("*.gcda"):
        old.unlink()
    (BUILD / "results").mkdir(exist_ok=True)
    jobs = str(len(os.sched_getaffinity(0)))
    code = subprocess.run(
        [BIN / "ctest", "--test-dir", BUILD, "-j", jobs, "--output-on-failure", "-Q"], cwd=ROOT
    ).returncode
    rows = []
    for file, lines in lines_run().items():
        covered = sum(count > 0 for count in lines.values())
        rows.append((covered / len(lines), covered, len(lines), file))
    for share, covered, total, file in sorted(rows):
        print(f"{share:7.1%}  {covered:5d} of {total:5d}  {file}")
    covered, total = sum(row[1] for row in rows), sum(row[2] for row in rows)
    print(f"{covered / max(total, 1):7.1%}  {covered:5d} of {total:5d}  all lines")
    return code


if __name__ == "__main__":
    sys.exit(main())
