"""Runs the spec suite on ONNX Runtime and the ReferenceEvaluator: python -m tools.peers [--check] [--results FILE...]

Explains each line on which a peer differs by docs/findings/lines.yaml and writes the last part of docs/peers.md; with
--check only compares. Fails if a line is unexplained, if a row of that file explains nothing, or if the page has other
numbers. Results may be earlier output of `conform --json` or `--log`; otherwise both peers run, for half an hour.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conformance.suites.spec_lines import suite_lines
from tools.peers.explained import PEERS, ROOT, ClassifiedRun, classify, idle, load_rows, word
from tools.peers.page import section, with_section

BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
PAGE = ROOT / "docs" / "peers.md"
TARGETS = ("onnxruntime:relabel=opset", "onnx-reference")
MAX_SHOWN = 200


def conform(target: str) -> Path:
    """Runs one target; returns the path of its results."""
    out = BUILD / "report" / f"peers-{target.partition(':')[0]}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    command = [BUILD / "touchstone", "conform", "--target", target, "--suite", "spec", "--json", out]
    code = subprocess.run(command, cwd=ROOT, stderr=subprocess.DEVNULL, check=False).returncode
    if code not in (0, 1, 70):  # a peer has failures, and cases that cannot be judged
        raise SystemExit(f"tools.peers: {target} broke off with exit code {code}")
    return out


def runs_in(file: Path) -> list[dict[str, Any]]:
    """Returns the runs of a JSON file, or of a log: one run per target, possibly partial."""
    text = file.read_text(encoding="utf-8")
    try:
        return json.loads(text)["runs"]
    except json.JSONDecodeError:
        pass  # a log has one line per case
    runs: dict[str, dict[str, Any]] = {}
    for row in map(json.loads, text.splitlines()):
        run = runs.setdefault(
            row["target"], {"target": row["target"], "suite": row["suite"], "version": "", "cases": []}
        )
        run["cases"].append(row)
    return list(runs.values())


def of_suite(run: dict[str, Any], lines: set[str]) -> dict[str, Any]:
    """Returns the run without lines that the suite has dropped since; a complete run must cover the whole suite."""
    return {**run, "cases": [case for case in run["cases"] if case["name"] in lines]}


def complaints(classified: Sequence[ClassifiedRun]) -> list[str]:
    found = []
    rows = load_rows()
    for one in classified:
        found += [f"explains nothing: {row}" for row in idle(one, rows)]
        counts = Counter((case["op"], word(case)) for case in one.unexplained)
        found += [
            f"{PEERS[one.peer]}: {count} {verdict} of {op} unexplained" for (op, verdict), count in counts.most_common()
        ]
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tools.peers", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="change nothing, and fail where the page is not what was found"
    )
    parser.add_argument("--results", type=Path, nargs="+", help="of earlier runs, one of each peer or more")
    parser.add_argument("--why", action="store_true", help="print each unexplained line with its message")
    options = parser.parse_args(arguments)
    lines = suite_lines()
    rows = load_rows()
    files = options.results or [conform(target) for target in TARGETS]
    classified = [classify(of_suite(run, set(lines)), rows) for file in files for run in runs_in(file)]
    found = complaints(classified)
    found += [
        f"{PEERS[one.peer]}: {one.cases} of {len(lines)} lines ran" for one in classified if one.cases != len(lines)
    ]
    for one in classified:
        explained = one.rows.total()
        print(
            f"{PEERS[one.peer]} {one.version} on spec: {one.cases} lines: {one.right} right, {one.open} open, "
            f"{one.absent.total()} not implemented, {explained} explained, {len(one.unexplained)} unexplained"
        )
        for case in one.unexplained[:MAX_SHOWN] if not options.why else one.unexplained:
            print(f"  {case['verdict']} {case['name']}" + (f": {case['detail']}" if options.why else ""))
    page = PAGE.read_text(encoding="utf-8")
    fresh = with_section(page, section(ROOT, classified, len(lines)))
    if not options.check:
        PAGE.write_text(fresh, encoding="utf-8")
    elif fresh != page:
        found.append("docs/peers.md is not what was found: python -m tools.peers writes it")
    for line in found:
        print(f"  {line}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
