"""make full: every test, campaign and comparison, one step after another; a run that was stopped goes on.

    python -m tools.full [--list] [--only GLOB ...] [--again] [--jobs N]

A step that passed for the present state of its sources is not run again, unless --again is given. Its state covers its
commands and all files but those in the folders that it names as irrelevant. Each step writes build/full/NAME.log. A
failed step does not stop those after it. With --jobs, N steps run side by side, of those that build or test in build/
one at a time. Ends with a table of the steps, their times and last lines, and exits with 1
if one failed or has not run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "full"
PYTHON = str(ROOT / ".venv" / "bin" / "python")
CMAKE = str(ROOT / ".venv" / "bin" / "cmake")
TOUCHSTONE = str(ROOT / "build" / "touchstone")
ARENA = {"TOUCHSTONE_CHECK": "arena"}
# Sources that a step which only runs the reference and the judge neither executes nor reads.
AROUND = (
    "api/",
    "docs/",
    "include/",
    "python/",
    "tests/python/",
    "tests/consumers/",
    "tools/bench/",
    "README.md",
)
FAST = ("optimized/", "tests/fast/")
# Files that make coverage alone executes.
COUNTED = (
    "codegen/template_sides.py",
    "tests/lines/lines_probe.cc",
    "tests/lines/test_counted.py",
    "tools/coverage.py",
)
RAY_TEST = "tools/touchstone/fuzz_ray_test.py"
# Programs of single steps, and this one: make test tests them, and no other step executes or reads them.
SINGLE = (
    "tests/faithful/",
    "tests/fuzz/",
    "tests/house/",
    "tests/independent/",
    "tests/mutants/",
    "tests/mutation/",
    "tools/full.py",
    RAY_TEST,
)
APART = (*SINGLE, *COUNTED)
EITHER = (*AROUND, *APART, "fuzz/")  # irrelevant to a step that only runs an executor and the judge
REFERENCE = (*EITHER, *FAST)


@dataclass(frozen=True)
class Step:
    name: str
    commands: tuple[tuple[str, ...], ...]
    environment: tuple[tuple[str, str], ...] = ()
    irrelevant: tuple[str, ...] = ()  # folders and files that cannot change its outcome
    alone: bool = False  # builds or tests in build/, as other steps do


def _step(
    name: str,
    *commands: str,
    environment: dict[str, str] | None = None,
    irrelevant: tuple[str, ...] = (),
    alone: bool = False,
) -> Step:
    """Makes a step of command lines whose first word is `python`, `cmake`, `touchstone` or a program on the path. The
    folder of a module that it runs is never irrelevant.
    """
    programs = {"python": PYTHON, "cmake": CMAKE, "touchstone": TOUCHSTONE}
    lines = [command.split() for command in commands]
    folders = [word.replace(".", "/") + "/" for line in lines for word in line]
    return Step(
        name,
        tuple((programs.get(line[0], line[0]), *line[1:]) for line in lines),
        tuple((environment or {}).items()),
        tuple(one for one in irrelevant if not any(folder.startswith(one) for folder in folders)),
        alone,
    )


STEPS = [
    _step("test", "make test", alone=True),
    _step("run", "make run", irrelevant=APART, alone=True),
    _step("coverage", "make coverage", irrelevant=SINGLE),
    _step("odr", "cmake --preset odr", "cmake --build --preset odr --target touchstone", irrelevant=APART),
    _step("races", "python -m tools.races", irrelevant=APART),
    _step("expectations", "python -m tools.expectations", irrelevant=REFERENCE),
    _step(
        "programs",
        "python tests/run_all.py --preset release --only ^(questions|conversions)_test$",
        irrelevant=APART,
        alone=True,
    ),
    _step(
        "shapes",
        "python tests/run_all.py --preset release --only ^fuzz_(op|graph)_test$",
        environment={"TOUCHSTONE_DRAWS": "200", "TOUCHSTONE_GRAPHS": "3000"},
        irrelevant=APART,
        alone=True,
    ),
    _step("witnesses", "python -m tools.witnesses --check", irrelevant=REFERENCE),
    _step("conversions", "python -m tools.conversions", irrelevant=REFERENCE),
    _step("real_models", "python -m tools.real_models --all", irrelevant=APART),
    _step("probes", "python -m tools.probes --with onnxruntime --quiet", irrelevant=REFERENCE),
    _step("official", "python -m tests.python.official", irrelevant=APART),
    _step(
        "clean_roots", "make packages", "python -m tools.clean_roots", irrelevant=(*APART, "fuzz/", "docs/"), alone=True
    ),
    _step("bundles", "python -m tools.bundles", irrelevant=(*APART, "docs/", "fuzz/", "python/")),
    _step(
        "ray",
        "tools/setup.sh ray",
        "python tests/run_all.py --preset release --only ^fuzz_ray_test$",
        irrelevant=tuple(one for one in APART if one != RAY_TEST),
        alone=True,
    ),
    _step("reference_spec", "touchstone conform --target reference --suite spec", irrelevant=REFERENCE),
    _step("peers", "python -m tools.peers --check", irrelevant=APART),
    _step("fast_spec", "python -m tests.fast", environment=ARENA, irrelevant=EITHER),
    _step("fast_suite", "touchstone conform --target fast", environment=ARENA, irrelevant=EITHER),
    _step(
        "mutation",
        "python -m tests.mutation --count 20000 --jobs 2",
        environment=ARENA,
        irrelevant=(*AROUND, *APART),
    ),
    _step(
        "mutants",
        "python -m tests.mutants --seed 331299",
        "python -m tests.mutants --count 400 --no-faithful",
        irrelevant=REFERENCE,
    ),
    _step("mutants_judge", "python -m tests.mutants.judge", irrelevant=REFERENCE),
    _step("mutants_kernels", "python -m tests.mutants.kernels", irrelevant=EITHER),
    _step("faithful", "python -m tests.faithful", irrelevant=REFERENCE),
    _step("independent_spec", "python -m tests.independent", irrelevant=REFERENCE),
    _step("independent_onnx", "python -m tests.independent --suite onnx", irrelevant=REFERENCE),
]


def state_of_sources(root: Path, irrelevant: tuple[str, ...] = ()) -> str:
    """Returns a hash of the sources that are relevant: those of the commit and their changes."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True, check=True
    ).stdout
    digest = hashlib.sha256()
    for name in sorted(set(listed.split(b"\0")) - {b""}):
        file = root / os.fsdecode(name)
        if file.is_file() and not os.fsdecode(name).startswith(irrelevant):
            digest.update(name + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


def states_of(steps: list[Step], root: Path) -> dict[str, str]:
    """Returns the state of each step: a hash of its relevant sources, commands and environment."""
    sources = {irrelevant: state_of_sources(root, irrelevant) for irrelevant in {step.irrelevant for step in steps}}
    texts = {step.name: f"{sources[step.irrelevant]} {(step.commands, step.environment)!r}" for step in steps}
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


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


def read_records(file: Path, states: dict[str, str]) -> dict[str, dict[str, object]]:
    """Returns the records of steps that ran in their present state."""
    if not file.exists():
        return {}
    kept = json.loads(file.read_text(encoding="utf-8"))["steps"]
    return {name: row for name, row in kept.items() if name in states and row.get("state") == states[name]}


def campaign(
    steps: list[Step], chosen: list[str], again: bool, root: Path = ROOT, out: Path = OUT, jobs: int = 1
) -> int:
    file = out / "state.json"
    states = states_of(steps, root)
    records = read_records(file, states)
    writing = threading.Lock()

    def ends(step: Step) -> None:
        print(f"full: {step.name} ...", file=sys.stderr, flush=True)
        record = run(step, out) | {"state": states[step.name]}
        with writing:
            records.update(read_records(file, states) | {step.name: record})  # another run may go on beside this one
            whole = file.with_suffix(".new")
            whole.write_text(json.dumps({"steps": records}, indent=1), encoding="utf-8")
            whole.replace(file)

    wanted = [step for step in steps if any(fnmatchcase(step.name, glob) for glob in chosen)]
    due = [step for step in wanted if again or records.get(step.name, {}).get("code") != 0]
    # Steps that hold build/ form a lane of their own, so that none of them blocks a lane while it waits.
    with ThreadPoolExecutor(jobs) as lanes:
        alone = lanes.submit(lambda: [ends(step) for step in due if step.alone]) if jobs > 1 else None
        for lane in [lanes.submit(ends, step) for step in due if jobs == 1 or not step.alone]:
            lane.result()
        if alone:
            alone.result()
    for step in steps:
        record = records.get(step.name)
        how = "not run" if record is None else "passed" if record["code"] == 0 else f"failed ({record['code']})"
        print(f"{step.name:18} {how:12} {record['seconds'] if record else '':>6} s  {record['last'] if record else ''}")
    passed = sum(record["code"] == 0 for record in records.values())
    failed = len(records) - passed
    seconds = sum(int(str(record["seconds"])) for record in records.values())
    print(
        f"full: {passed} steps passed, {failed} failed, {len(steps) - len(records)} not run; "
        f"{seconds} s; sources {state_of_sources(root)}"
    )
    return 0 if passed == len(steps) else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="list the steps")
    parser.add_argument("--only", nargs="*", default=["*"], metavar="GLOB", help="names of steps")
    parser.add_argument("--again", action="store_true", help="also run steps that passed")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="number of steps that run side by side")
    args = parser.parse_args()
    if args.list:
        for step in STEPS:
            print(f"{step.name:18} {'; '.join(' '.join(command) for command in step.commands)}")
        return 0
    return campaign(STEPS, args.only, args.again, jobs=args.jobs)


if __name__ == "__main__":
    sys.exit(main())
