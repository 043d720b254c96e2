"""Selects the part of the spec suite that `make test` runs on the fast executor, and runs the judge on it."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.suites.spec_lines import by_version
from tests.lines.pick import PASSES, rule_of

ROOT = Path(__file__).resolve().parents[2]
KERNELS = Path(__file__).parent / "kernels"  # CLASS.cases: lines that run on kernels of this class
ISAS = ("sse41", "avx2", "avx512")
FLOATS, OTHERS, BREACHES = 3, 1, 2  # lines of each version: with float inputs, without, and refused by a rule
UNSUPPORTED = 4  # the exit code if the processor lacks an instruction set


def part(of: Sequence[str]) -> list[str]:
    """Selects some lines of each version, most of them with float inputs, since all other types run on the reference's
    kernels.
    """
    made = []
    for drawn in by_version(of).values():
        refused = [line for line in drawn if rule_of(line)]
        floats = [line for line in drawn if not rule_of(line) and "float[" in line]
        others = [line for line in drawn if not rule_of(line) and "float[" not in line]
        made += floats[:FLOATS] + others[:OTHERS] + refused[:BREACHES]
    return made


@dataclass
class Judged:
    code: int
    verdicts: Counter[str]
    fails: list[str]
    said: str
    kernels: dict[str, list[str]]  # by case: the classes of kernels that it ran on


def judged(touchstone: Path, isa: str, suite: str | Path, report: Path, *words: str) -> Judged:
    command = [touchstone, "conform", "--target", f"fast:isa={isa}", "--suite", suite, "--json", report, *words]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, cwd=ROOT)
    if not report.exists():
        return Judged(done.returncode, Counter(), [], done.stderr[-4000:], {})
    (run,) = json.loads(report.read_text(encoding="utf-8"))["runs"]
    cases = run["cases"]
    fails = [f"{c['verdict']}: {c['name']}: {c['detail']}" for c in cases if c["verdict"] not in PASSES]
    kernels = {case["name"]: case.get("kernels", []) for case in cases}
    return Judged(done.returncode, Counter(case["verdict"] for case in cases), fails, done.stderr[-4000:], kernels)


def lacks(touchstone: Path, isa: str) -> bool:
    """True if this processor lacks the instruction set; an idle worker reports it by its exit code."""
    command = [touchstone, "worker", "--target", f"fast:isa={isa}"]
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode == UNSUPPORTED
