"""Measures coverage with gcov: of the spec's clauses by the cases (make coverage), or of lines by the tests.

python -m tools.coverage --lines runs the tests and prints the share of executed lines per file, worst first.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from tests.lines import worth
from tools import spec_coverage, spec_coverage_report

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-coverage"
BIN = ROOT / ".venv" / "bin"


def lines_run() -> dict[str, dict[int, int]]:
    """Returns how often each line ran, by source file of this project."""
    hits: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for path, file in spec_coverage.counts_of(BUILD, BUILD.rglob("*.gcda")):
        if path.is_relative_to(ROOT) and not path.is_relative_to(BUILD):
            for line in file["lines"]:
                hits[str(path.relative_to(ROOT))][line["line_number"]] += line["count"]
    return hits


def build(*targets: str) -> None:
    wanted = ["--target", *targets] if targets else []
    for command in (["cmake", "--preset", "coverage"], ["cmake", "--build", "--preset", "coverage", *wanted]):
        done = subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            print(done.stdout)
            sys.exit(f"coverage: {' '.join(command)} failed")


def forget() -> None:
    for old in BUILD.rglob("*.gcda"):
        old.unlink()


def of_spec() -> bool:
    """Measures coverage of the spec; returns True if it is sufficient."""
    forget()
    cases = spec_coverage.run_all_cases(BUILD)
    coverage, excused = spec_coverage.measure(BUILD), spec_coverage_report.excuses()
    spec_coverage_report.write(coverage, excused, cases)
    lines, enough = spec_coverage_report.report(coverage, excused)
    print(*lines, f"by {cases} cases; make run shows it on its page", sep="\n", flush=True)
    return enough


def of_suite() -> bool:
    """Returns True if each line of the spec suite that was added for coverage reaches a block that no earlier line
    reaches."""
    idle = worth.idle(BUILD / "tests" / "lines" / "lines_probe")
    print(*(f"reaches no block of its own: {line}" for line in idle), sep="\n", end="")
    return not idle


def of_lines() -> bool:
    """Measures line coverage; returns True if the tests pass."""
    forget()
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
    return code == 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools.coverage", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--lines", action="store_true", help="which lines the tests run, not which clauses the cases reach"
    )
    if parser.parse_args().lines:
        build()
        return 0 if of_lines() else 1
    build("run_cases", "lines_probe")
    good = [of_spec(), of_suite()]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
