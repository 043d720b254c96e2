"""Judges the suites' own expectations: python -m tools.expectations [--first N]

Judges the expected outputs of the pinned suite and of the first N distinct older cases by hash, without a runtime.
Fails if one is wrong, mistrusted or open and no erratum or question explains it. Fails also if the bounds are blunt:
more than 3 % of the elements of single float nodes open, or a median resolution over 2^-16.
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

ROOT = Path(__file__).resolve().parent.parent
BINARY = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build")) / "touchstone"
MAX_OPEN, BLUNTEST = 0.03, 2.0**-16
RIGHT = ("exact", "within", "in-set", "profile")


def judge(words: list[str], file: Path) -> dict[str, Any]:
    """Runs conform and returns its object; its tables go to standard error immediately."""
    command = [str(BINARY), "conform", "--target", "expectation", "--tables", "--json", str(file), *words]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    if code not in (0, 1, 70):  # 70: unreadable data, which an erratum may explain
        raise SystemExit(code)
    return json.loads(file.read_text(encoding="utf-8"))["runs"][0]


def needs_a_reason(case: dict[str, Any]) -> bool:
    """True if a verdict needs an explanation. Draws, several nodes and bodies cannot be judged; a judged single node
    that is still open needs a reason."""
    verdict = case["verdict"].split("(")[0]
    return verdict not in RIGHT and not (verdict == "open" and "judged" not in case)


def why_open(case: dict[str, Any]) -> str:
    """Returns a category for the report: missing definitions must be distinguishable from draws."""
    if "nodes: by the suite" in case["detail"]:
        return "several nodes"
    return "a body" if "runs a body" in case["detail"] else case["op"] or "other"


def open_cases(run: dict[str, Any]) -> str:
    counts = Counter(why_open(case) for case in run["cases"] if case["verdict"] == "open")
    return ", ".join(f"{count} {why}" for why, count in counts.most_common())


def complaints(run: dict[str, Any]) -> list[str]:
    """Returns the complaints about the suite, or about our definitions."""
    floats = run["summary"]["floats"]
    found = [
        f"{case['verdict']} {case['kind']}/{case['name']}: {case['detail']}"
        for case in run["cases"]
        if needs_a_reason(case) and not case["explained"]
    ]
    if floats["open"] > MAX_OPEN * floats["elements"]:
        found.append(f"{floats['open']} of {floats['elements']} elements of single float nodes are open")
    if floats["resolution"] > BLUNTEST:
        found.append(f"the median resolution is {floats['resolution']:.3g}")
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--first", type=int, default=2000, help="older cases to judge; 0: all of them")
    options = parser.parse_args(arguments)
    old = ["--suite", "onnx@old", *(["--first", str(options.first)] if options.first else [])]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="touchstone-expectations-") as scratch:
        for words in (["--suite", "onnx"], old):
            run = judge(words, Path(scratch) / "run.json")
            found = complaints(run)
            counted = ", ".join(f"{count} {verdict}" for verdict, count in run["summary"]["verdicts"].items())
            print(f"what {run['suite']} expects: {run['summary']['cases']} cases: {counted}")
            print(f"  open: {open_cases(run)}")
            print(f"  {sum(map(needs_a_reason, run['cases']))} need a reason, {len(found)} complaints")
            for line in found:
                print(f"  {line}")
            failed += len(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
