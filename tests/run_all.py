"""make test: builds sanitised and whole, runs every test of both, counts single cases, ends with 'N passed, N failed'.

ctest runs the programs; each leaves a JUnit file in results/ of its build folder (cmake/testing.cmake), and the cases
in it are what is counted. A program that dies, hangs or leaves no file counts as one failed case more. No test at all
is a failure.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
FOLDERS = {"release": "build", "asan": "build-asan"}  # the sanitised build links kernels of the other
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:strict_string_checks=1",
    "LSAN_OPTIONS": "print_suppressions=0:suppressions=" + str(ROOT / "tests" / "leaks.txt"),
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "GTEST_COLOR": "no",
    "LC_ALL": "C.UTF-8",
}


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, other: Count) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures


def cases_in(file: Path, program: str) -> Count:
    """The single cases of one JUnit file, as GoogleTest and pytest write them."""
    count = Count()
    for case in ElementTree.parse(file).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            count.failed += 1
            count.failures.append(f"{program}: {case.get('classname')}.{case.get('name')}")
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            count.skipped += 1
        else:
            count.passed += 1
    return count


def count_preset(build: Path, preset: str) -> Count:
    """What ctest says of programs, with the cases inside each."""
    total = Count()
    for program in ElementTree.parse(build / "results" / "ctest.xml").getroot().iter("testcase"):
        name = program.get("name", "?")
        own = build / "results" / f"{name}.xml"
        died = program.get("status") not in ("run", "disabled", "notrun")
        try:
            count = cases_in(own, f"{preset}/{name}") if own.exists() else Count()
        except ElementTree.ParseError:
            count, died = Count(), True
        if died and count.failed == 0:
            count.failed += 1
            count.failures.append(f"{preset}/{name}: {program.get('status')}, without a failed case")
        if program.get("status") == "run" and count.passed + count.failed + count.skipped == 0:
            count.passed += 1  # a plain command: it is its own case
        total.add(count)
    return total


def build_preset(preset: str) -> None:
    subprocess.run([BIN / "cmake", "--preset", preset], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([BIN / "cmake", "--build", "--preset", preset], cwd=ROOT, check=True)


def test_preset(preset: str, only: str) -> Count:
    build = ROOT / FOLDERS[preset]
    shutil.rmtree(build / "results", ignore_errors=True)
    (build / "results").mkdir()
    jobs = str(len(os.sched_getaffinity(0)))
    command = [str(BIN / "ctest"), "--test-dir", str(build), "--output-on-failure", "--timeout", "900", "-j", jobs]
    command += ["--output-junit", str(build / "results" / "ctest.xml"), *(["-R", only] if only else [])]
    code = subprocess.run(command, cwd=ROOT, env=os.environ | ENVIRONMENT).returncode
    count = count_preset(build, preset)
    if code != 0 and count.failed == 0:
        count.failed += 1
        count.failures.append(f"{preset}: ctest ended with {code}")
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--started", type=float, help="when the set-up began, in seconds since 1970")
    parser.add_argument("--preset", action="append", choices=list(FOLDERS), help="only these (both by default)")
    parser.add_argument("--only", default="", metavar="REGEX", help="only programs whose name matches")
    arguments = parser.parse_args()
    parts: list[tuple[str, float]] = []
    clock = time.time()
    if arguments.started:
        parts.append(("setup", clock - arguments.started))

    def part(name: str) -> None:
        nonlocal clock
        now = time.time()
        parts.append((name, now - clock))
        clock = now

    presets = arguments.preset or list(FOLDERS)
    for preset in presets:
        build_preset(preset)
        part(f"{preset} build")
    total = Count()
    for preset in presets:
        total.add(test_preset(preset, arguments.only))
        part(f"{preset} tests")
    print()
    for failure in total.failures:
        print(f"failed  {failure}")
    for name, seconds in parts:
        print(f"{name:<16}{seconds:8.0f} s")
    skipped = f", {total.skipped} skipped" if total.skipped else ""
    if total.passed + total.failed == 0:
        print("no test ran")
    print(f"{total.passed} passed, {total.failed} failed{skipped}", flush=True)
    return 0 if total.failed == 0 and total.passed > 0 else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        print(f"make test: {' '.join(str(word) for word in error.cmd)} ended with {error.returncode}", file=sys.stderr)
        sys.exit(1)
