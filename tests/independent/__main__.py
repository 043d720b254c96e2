"""Runs the second interpreter on a suite and judges its outputs.

    python -m tests.independent [--suite spec|onnx|FILE] [--only PATTERN] [--jobs N] [--sample N | --each N]

The interpreter is a target of `touchstone conform`. Exact outputs (integers, strings, data movement, structure) are
compared bit for bit with the generated kernel, floats with the bounds of the definition. The driver also counts the
cases that the interpreter leaves out, by reason, and checks that a rule's negative case is refused by that rule.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from conformance.suites.spec_lines import suite_lines
from tests.independent.formats import ROOT
from tests.independent.sample import chosen_lines

BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
KNOWN = Path(__file__).with_name("known.yaml")
PASSES = ("exact", "within", "in-set", "profile", "open", "mistrusted")


def rule_of(line: str) -> str:
    """The rule after the last " !" of a line; a string in the line may contain that mark, too."""
    _, mark, rule = line.rpartition(" !")
    return rule if mark and '"' not in rule else ""


def conform(
    suite: str, only: str, jobs: int, sample: int, folder: Path
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The judge's cases, and the interpreter's notes on the cases that it refused or left out."""
    report, log = folder / "report.json", folder / "log"
    log.mkdir()
    command = [BUILD / "touchstone", "conform", "--target", f"python:tests.independent.target:Independent:log={log}"]
    command += ["--suite", suite, "--runs", "1", "--jobs", jobs, "--timeout", 300, "--json", report]
    command += ["--filter", only] if only else []
    command += ["--first", sample] if sample else []
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, cwd=ROOT)
    if not report.exists():
        raise SystemExit(done.stderr[-4000:])
    (run,) = json.loads(report.read_text(encoding="utf-8"))["runs"]
    notes = [json.loads(row) for file in sorted(log.iterdir()) for row in file.read_text(encoding="utf-8").splitlines()]
    return run["cases"], notes


class Outcome:
    """The judge's verdicts: cases that disagree, cases left out, and refusals by another rule."""

    def __init__(self, cases: list[dict[str, Any]], notes: list[dict[str, Any]]):
        self.cases = cases
        left_out = {note["line"]: note["left_out"] for note in notes if "left_out" in note and "line" in note}
        self.verdicts = Counter(case["verdict"] for case in cases)
        self.left_out = Counter(" ".join(reason.split()[:2]) for reason in left_out.values())
        self.parts = [case for case in cases if case["verdict"] not in (*PASSES, "unsupported")]
        said = {note["line"]: note["rule"] for note in notes if "rule" in note and "line" in note}
        self.rules = [
            f"{line}: refused by {rule or 'no rule'}" for line, rule in said.items() if rule_of(line) not in ("", rule)
        ]
        known = yaml.safe_load(KNOWN.read_text(encoding="utf-8")) if KNOWN.exists() else []
        self.why = {line: row["why"] for row in known or [] for line in row["lines"]}
        self.new = [case for case in self.parts if case["name"] not in self.why]
        apart = {case["name"] for case in self.parts}
        self.stale = [case["name"] for case in cases if case["name"] in self.why and case["name"] not in apart]

    def text(self) -> str:
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in self.verdicts.most_common())
        lines = [f"{len(self.cases)} cases: {verdicts}"]
        lines += [f"  left out      {count:5} {reason}" for reason, count in self.left_out.most_common()]
        lines += [f"  another rule  {line}" for line in self.rules]
        lines += [
            f"  known         {self.why[case['name']]}: {case['name']}" for case in self.parts if case not in self.new
        ]
        lines += [
            f"  apart         {case['verdict']}: {case['name']}\n                {case['detail']}" for case in self.new
        ]
        lines += [f"  no longer     {name}: it stands in known.yaml" for name in self.stale]
        lines.append(
            f"{len(self.new)} apart, {len(self.parts) - len(self.new)} known, {len(self.rules)} by another rule"
        )
        return "\n".join(lines)


def evaluate(suite: str, only: str = "", jobs: int = 2, sample: int = 0, each: int = 0) -> Outcome:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if each:
            lines = chosen_lines(suite_lines(), each)
            (folder / "some.cases").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            suite = str(folder / "some.cases")
        return Outcome(*conform(suite, only, jobs, sample, folder))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.independent", description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="spec")
    parser.add_argument("--only", default="", help="cases whose name matches this pattern")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sample", type=int, default=0, help="as many lines as this, by their hashes")
    parser.add_argument("--each", type=int, default=0, help="so many lines of each version, by their hashes")
    arguments = parser.parse_args()
    outcome = evaluate(arguments.suite, arguments.only, arguments.jobs, arguments.sample, arguments.each)
    print(outcome.text())
    return 1 if outcome.new or outcome.rules or outcome.stale else 0


if __name__ == "__main__":
    sys.exit(main())
