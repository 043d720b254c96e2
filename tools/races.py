"""Runs the tests that use several threads under the thread sanitiser, in build-tsan.

python -m tools.races

Halide kernels and wide kernels are those of the release build, so their own loads and stores are not seen. Exits with
code 1 if a race or a failed test is found.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
CMAKE = ROOT / ".venv" / "bin" / "cmake"
BUILD = ROOT / "build-tsan"
# Tests of each program. Children of `fork` are left out: the sanitiser does not follow a process that had threads.
PROGRAMS = {
    "core/core_test": "Budget*:Restorable*",
    "optimized/optimized_test": "ThreadPool*:RunLock.ThreadsOfOneProcessWait",
    "optimized/session_test": "SessionThreads*:*Thread*:Branches*:Control*:Elements*",
    "api/api_test": "*-*Fork*:*Child*",
}


def main() -> None:
    for command in (["--preset", "tsan"], ["--build", "--preset", "tsan"]):
        subprocess.run([CMAKE, *command], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    environment = os.environ | {
        "TSAN_OPTIONS": "halt_on_error=0 exitcode=66",
        "TOUCHSTONE_SOURCE": str(ROOT),
        "TOUCHSTONE_BUILD": str(BUILD),
        "TOUCHSTONE_GENERATED": str(BUILD / "generated"),
        "TOUCHSTONE_ISA": "avx2",
    }
    fine, passed = True, 0
    for program, tests in PROGRAMS.items():
        done = subprocess.run(
            [BUILD / program, f"--gtest_filter={tests}"], env=environment, capture_output=True, text=True, check=False
        )
        count = re.search(r"\[  PASSED  \] (\d+) test", done.stdout)
        passed += int(count[1]) if count else 0
        if done.returncode != 0 or not count or count[1] == "0":
            fine = False
            print(f"{program}: exit code {done.returncode}\n{done.stdout[-4000:]}{done.stderr[:20000]}")
    print(f"{passed} tests with threads, {'no race' if fine else 'with faults'}")
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
