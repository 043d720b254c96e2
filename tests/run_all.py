"""make test: builds the presets, runs every test of both, and ends with 'N passed, N failed, N skipped'.

The presets are asan (sanitized) and release (whole). ctest runs the programs. Each writes a JUnit file to results/ of
its build folder (cmake/testing.cmake), and the cases in these files are counted: once each, however many builds ran
them. A case that failed in any build failed; one that every build skipped is skipped. A program that crashes, hangs or
writes no file counts as one more failed case. No test at all is a failure, and so is a skip that tests/skips.yaml does
not allow.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
FOLDERS = {"release": "build", "asan": "build-asan"}  # the sanitized build links kernels of the other
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:strict_string_checks=1",
    "LSAN_OPTIONS": "print_suppressions=0:suppressions=" + str(ROOT / "tests" / "leaks.txt"),
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "GTEST_COLOR": "no",
    "LC_ALL": "C.UTF-8",
}
PLACE = re.compile(r"^\S+:\d+\n")  # GoogleTest writes the place of a skip before its reason
HANG = "3600"  # seconds until a program counts as hanging: no program takes a quarter of that on a busy machine
GRAVITY = ("skipped", "passed", "failed")  # of a test's outcomes in several builds, the last in this order counts


@dataclass(frozen=True)
class Test:
    """The identity of one test, the same in each build."""

    program: str
    group: str = ""
    name: str = ""


@dataclass
class Count:
    """Outcome of each test, places of failures, reasons of skips."""

    how: dict[Test, str] = field(default_factory=dict)  # one of GRAVITY
    failures: list[str] = field(default_factory=list)
    reasons: dict[Test, str] = field(default_factory=dict)

    def ended(self, test: Test, how: str) -> None:
        self.how[test] = max(self.how.get(test, how), how, key=GRAVITY.index)

    def fail(self, test: Test, place: str) -> None:
        self.ended(test, "failed")
        self.failures.append(place)

    def skip(self, test: Test, reason: str) -> None:
        self.ended(test, "skipped")
        self.reasons[test] = reason

    def add(self, other: Count) -> None:
        for test, how in other.how.items():
            self.ended(test, how)
        self.failures += other.failures
        self.reasons |= other.reasons

    def of(self, how: str) -> int:
        return list(self.how.values()).count(how)

    def skips(self) -> list[str]:
        """The reason of each test that no build ran."""
        return [reason for test, reason in self.reasons.items() if self.how[test] == "skipped"]


def cases_in(file: Path, preset: str, program: str) -> Count:
    """The single cases of one JUnit file, as GoogleTest and pytest write them."""
    count = Count()
    for case in ElementTree.parse(file).getroot().iter("testcase"):
        test = Test(program, case.get("classname", ""), case.get("name", ""))
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            count.fail(test, f"{preset}/{program}: {test.group}.{test.name}")
        elif skipped is not None or case.get("status") == "notrun":
            said = skipped.get("message", "") if skipped is not None else "disabled"
            count.skip(test, " ".join(PLACE.sub("", said).split()))
        else:
            count.ended(test, "passed")
    return count


def count_preset(build: Path, preset: str) -> Count:
    """Counts the programs that ctest ran, with the cases inside each."""
    total = Count()
    for row in ElementTree.parse(build / "results" / "ctest.xml").getroot().iter("testcase"):
        program = row.get("name", "?")
        own = build / "results" / f"{program}.xml"
        died = row.get("status") not in ("run", "disabled", "notrun")
        try:
            count = cases_in(own, preset, program) if own.exists() else Count()
        except ElementTree.ParseError:
            count, died = Count(), True
        if died and not count.failures:
            count.fail(Test(program), f"{preset}/{program}: {row.get('status')}, without a failed case")
        if row.get("status") == "run" and not count.how:
            count.ended(Test(program), "passed")  # a plain command is its own case
        total.add(count)
    return total


def breaches(reasons: list[str], allowed: list[dict[str, Any]]) -> list[str]:
    """Lists skips whose reason is on no row, and rows whose reason occurs more often than they allow."""
    found, used = [], [0] * len(allowed)
    for reason, count in Counter(reasons).items():
        rows = [k for k, row in enumerate(allowed) if fnmatchcase(reason, row["reason"])]
        if not rows:
            found.append(f"{count} skipped for a reason that tests/skips.yaml does not have: {reason}")
        for k in rows[:1]:
            used[k] += count
    for row, count in zip(allowed, used, strict=True):
        if count > row["at_most"]:
            found.append(f"{count} skipped, at most {row['at_most']} may be: {row['reason']}")
    return found


def allowed_skips() -> list[dict[str, Any]]:
    return yaml.safe_load((ROOT / "tests" / "skips.yaml").read_text(encoding="utf-8"))


def build_preset(preset: str) -> None:
    subprocess.run([BIN / "cmake", "--preset", preset], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([BIN / "cmake", "--build", "--preset", preset], cwd=ROOT, check=True)


def test_preset(preset: str, only: str) -> Count:
    build = ROOT / FOLDERS[preset]
    shutil.rmtree(build / "results", ignore_errors=True)
    (build / "results").mkdir()
    jobs = str(len(os.sched_getaffinity(0)))
    command = [str(BIN / "ctest"), "--test-dir", str(build), "--output-on-failure", "--timeout", HANG, "-j", jobs]
    command += ["--output-junit", str(build / "results" / "ctest.xml"), *(["-R", only] if only else [])]
    code = subprocess.run(command, cwd=ROOT, env=os.environ | ENVIRONMENT).returncode
    count = count_preset(build, preset)
    if code != 0 and not count.failures:
        count.fail(Test(preset), f"{preset}: ctest ended with {code}")
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
    for reason, count in Counter(total.skips()).most_common():
        print(f"skipped {count:5}  {reason}")
    # the other build runs only a part
    refused = breaches(total.skips(), allowed_skips()) if "release" in presets else []
    for failure in [*total.failures, *refused]:
        print(f"failed  {failure}")
    for name, seconds in parts:
        print(f"{name:<16}{seconds:8.0f} s")
    passed, failed, skipped = total.of("passed"), total.of("failed") + len(refused), total.of("skipped")
    if passed + failed == 0:
        print("no test ran")
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        print(f"make test: {' '.join(str(word) for word in error.cmd)} ended with {error.returncode}", file=sys.stderr)
        sys.exit(1)
