"""Writes spec/witnesses.json: the witnesses of each version that ran and agreed with the reference.

python -m tools.witnesses. Conforms the reference on the distinct cases of every released suite. Runs the tests that
compare versions with other runtimes, function bodies and arithmetic of their own; each records its witnesses
(tests/witnessed.py). --check writes nothing, and fails if the file names a kind of witness that was not seen for a
version. --conform FILE takes a report of `conform --json` instead of a new run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from codegen.witnesses import FILE, Found, Witness, found_text, load_found

ROOT = Path(__file__).resolve().parent.parent
BINARY = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build")) / "touchstone"
TESTS = ["codes", "functions", "images", "ml", "random", "witnesses"]
RIGHT = ("exact", "within", "in-set", "profile")
Seen = tuple[str, str, str]  # version, kind of witness, name


def of_suites(report: Path) -> Iterator[Seen]:
    """Yields single-node cases that the reference passes: by the judge, or by the suite if the judge cannot judge (a
    draw, a subgraph)."""
    (run,) = json.loads(report.read_text(encoding="utf-8"))["runs"]
    for case in run["cases"]:
        verdict = case["verdict"].split("(")[0]
        if case["since"] and case["compat"] == "pass" and verdict in (*RIGHT, "open"):
            yield f"{case['op']}-{case['since']}", "suite", f"{case['kind']}/{case['name']}"


def of_tests(file: Path) -> Iterator[Seen]:
    for line in file.read_text(encoding="utf-8").splitlines():
        version, kind, test = json.loads(line)
        yield version, kind, test


def gathered(seen: Iterable[Seen]) -> Found:
    by: dict[tuple[str, str], set[str]] = defaultdict(set)
    for version, kind, which in seen:
        by[version, kind].add(which)
    found: Found = defaultdict(list)
    for (version, kind), which in sorted(by.items()):
        found[version].append(Witness(kind, len(which), min(which).partition("[")[0]))
    return found


def run(command: list[object], **environment: str) -> None:
    done = subprocess.run([str(word) for word in command], cwd=ROOT, env=os.environ | environment, check=False)
    if done.returncode not in (0, 1):  # 1: cases that do not pass, which are no witnesses
        raise SystemExit(done.returncode)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only compare with the file")
    parser.add_argument("--conform", type=Path, help="a report of the reference on onnx@all")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="touchstone-witnesses-") as scratch:
        report = options.conform or Path(scratch) / "conform.json"
        if options.conform is None:
            run([BINARY, "conform", "--target", "reference", "--suite", "onnx@all", "--json", report])
        said = Path(scratch) / "said.jsonl"
        folders = [f"tests/{name}" for name in TESTS]
        run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *folders], TOUCHSTONE_WITNESSED=str(said))
        found = gathered([*of_suites(report), *of_tests(said)])
    if options.check:
        claimed, seen = (
            {(name, witness.kind) for name, rows in each.items() for witness in rows}
            for each in (load_found(ROOT / "spec"), found)
        )
        for name, kind in sorted(claimed - seen):
            print(f"spec/witnesses.json names {kind} for {name}, and nothing of it was seen")
        print(f"{len(claimed & seen)} of {len(claimed)} witnesses that spec/witnesses.json names were seen")
        return 0 if claimed <= seen else 1
    (ROOT / "spec" / FILE).write_text(found_text(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
