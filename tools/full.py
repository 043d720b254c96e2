"""make full: every test, campaign and comparison, one step after another; a run that was stopped goes on.

    python -m tools.full [--list] [--only GLOB ...] [--again]

A step that passed for the present state of the sources is not run again, unless --again is given. Each step writes
build/full/NAME.log. A failed step does not stop those after it. Ends with a table of the steps, their times and last
lines, and exits with 1 if one failed or has not run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "full"
PYTHON = str(ROOT / ".venv" / "bin" / "python")
CMAKE = str(ROOT / ".venv" / "bin" / "cmake")
TOUCHSTONE = str(ROOT / "build" / "touchstone")
ARENA = {"TOUCHSTONE_CHECK": "arena"}


@dataclass(frozen=True)
class Step:
    name: str
    commands: tuple[tuple[str, ...], ...]
    environment: tuple[tuple[str, str], ...] = ()


def _step(name: str, *commands: str, environment: dict[str, str] | None = None) -> Step:
    """Makes a step of command lines whose first word is `python`, `cmake`, `touchstone` or a program on the path."""
    programs = {"python": PYTHON, "cmake": CMAKE, "touchstone": TOUCHSTONE}
    words = [command.split() for command in commands]
    return Step(
        name,
        tuple((programs.get(line[0], line[0]), *line[1:]) for line in words),
        tuple((environment or {}).items()),
    )


STEPS = [
    _step("test", "make test"),
    _step("run", "make run"),
    _step("coverage", "make coverage"),
    _step("odr", "cmake --preset odr", "cmake --build --preset odr --target touchstone"),
    _step("expectations", "python -m tools.expectations"),
    _step("programs", "python tests/run_all.py --preset release --only ^(questions|conversions)_test$"),
    _step("witnesses", "python -m tools.witnesses --check"),
    _step("conversions", "python -m tools.conversions"),
    _step("real_models", "python -m tools.real_models --all"),
    _step("probes", "python -m tools.probes --with onnxruntime --quiet"),
    _step("official", "python -m tests.python.official"),
    _step("reference_spec", "touchstone conform --target reference --suite spec"),
    _step("peers", "python -m tools.peers --check"),
    _step("fast_spec", "python -m tests.fast", environment=ARENA),
    _step("fast_suite", "touchstone conform --target fast", environment=ARENA),
    _step("mutation", "python -m tests.mutation --count 20000 --jobs 2", environment=ARENA),
    _step("mutants", "python -m tests.mutants"),
    _step("mutants_judge", "python -m tests.mutants.judge"),
    _step("mutants_kernels", "python -m tests.mutants.kernels"),
    _step("faithful", "python -m tests.faithful"),
    _step("independent_spec", "python -m tests.independent"),
    _step("independent_onnx", "python -m tests.independent --suite onnx"),
]


def state_of_sources(root: Path) -> str:
    """Returns a hash of all sources: those of the commit and their changes."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True, check=True
    ).stdout
    digest = hashlib.sha256()
    for name in sorted(set(listed.split(b"\0")) - {b""}):
        file = root / os.fsdecode(name)
        if file.is_file():
            digest.update(name + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


def last_line(log: Path) -> str:
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1].strip()[:100] if lines else ""


def run(step: Step, out: Path = OUT) -> dict[str, object]:
    """Runs a step's commands until one fails; returns its record."""
    out.mkdir(parents=True, exist_ok=True)
    log, started, code = out / f"{step.name}.log", time.monotonic(), 0
    with log.open("w", encoding="utf-8") as file:
        for command in step.commands:
            file.write("$ " + " ".join(command) + "\n")
            file.flush()
            code = subprocess.run(
                command, cwd=ROOT, env=os.environ | dict(step.environment), stdout=file, stderr=file, check=False
            ).returncode
            if code != 0:
                break
    return {"code": code, "seconds": round(time.monotonic() - started), "last": last_line(log)}


def read_records(file: Path, state: str) -> dict[str, dict[str, object]]:
    """Returns the records of steps that ran on this state of the sources."""
    if not file.exists():
        return {}
    kept = json.loads(file.read_text(encoding="utf-8"))
    return kept["steps"] if kept["state"] == state else {}


def campaign(steps: list[Step], chosen: list[str], again: bool, state: str, out: Path = OUT) -> int:
    file = out / "state.json"
    records = read_records(file, state)
    for step in steps:
        if not any(fnmatchcase(step.name, glob) for glob in chosen):
            continue
        if not again and records.get(step.name, {}).get("code") == 0:
            continue
        print(f"full: {step.name} ...", file=sys.stderr, flush=True)
        records[step.name] = run(step, out)
        whole = file.with_suffix(".new")
        whole.write_text(json.dumps({"state": state, "steps": records}, indent=1), encoding="utf-8")
        whole.replace(file)
    for step in steps:
        record = records.get(step.name)
        how = "not run" if record is None else "passed" if record["code"] == 0 else f"failed ({record['code']})"
        print(f"{step.name:18} {how:12} {record['seconds'] if record else '':>6} s  {record['last'] if record else ''}")
    passed = sum(record["code"] == 0 for record in records.values())
    failed = len(records) - passed
    print(f"full: {passed} steps passed, {failed} failed, {len(steps) - len(records)} not run; sources {state}")
    return 0 if passed == len(steps) else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="list the steps")
    parser.add_argument("--only", nargs="*", default=["*"], metavar="GLOB", help="names of steps")
    parser.add_argument("--again", action="store_true", help="also run steps that passed")
    args = parser.parse_args()
    if args.list:
        for step in STEPS:
            print(f"{step.name:18} {'; '.join(' '.join(command) for command in step.commands)}")
        return 0
    return campaign(STEPS, args.only, args.again, state_of_sources(ROOT))


if __name__ == "__main__":
    sys.exit(main())
