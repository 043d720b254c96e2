"""Runs the official runner of the onnx package on touchstone.backend, and compares it with `touchstone conform`.

    python -m tests.python.official [--runtime fast|reference]... [--share K/N]

Both apply the suite's own rule, and have only the runtime in common. This one uses Python, arrays and the package's own
comparison; the other uses files, messages and our comparison. Each case must have the same outcome, but those in KNOWN.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import onnx.backend.test

from tests.python.built import COMMAND, ROOT

RUNTIMES = ("reference", "fast")
DEVICE = "_cpu"  # the runner's suffix
_NOT_COLLECTED = "the package makes this case, and its runner does not collect it"
# Cases on which the two differ for a reason of the runner.
KNOWN = {
    "test_loop16_seq_none": "the runner cannot compare the sequence that the case expects",
    **dict.fromkeys((f"test_mod_fmod_0_signed_zero_float{bits}" for bits in (16, 32, 64)), _NOT_COLLECTED),
}


@functools.cache
def runner(runtime: str) -> onnx.backend.test.BackendTest:
    from touchstone.backend import TouchstoneBackend

    settings = {"runtime": runtime, "intra_op_num_threads": 1}
    np.random.seed(0)  # cases seed themselves; this seeds the draws between them
    return onnx.backend.test.BackendTest(type("Backend", (TouchstoneBackend,), {"settings": settings}), __name__)


def cases(runtime: str, wanted: Callable[[str], bool]) -> Iterator[unittest.TestCase]:
    """The runner's own tests for the CPU."""
    for holder in runner(runtime).test_cases.values():
        for test in unittest.defaultTestLoader.loadTestsFromTestCase(holder):
            if test._testMethodName.endswith(DEVICE) and wanted(name_of(test)):
                yield test


def real_models(runtime: str) -> set[str]:
    """The cases of whole trained networks, which are most of the suite's work."""
    holder = runner(runtime).test_cases["OnnxBackendRealModelTest"]
    return {name.removesuffix(DEVICE) for name in unittest.defaultTestLoader.getTestCaseNames(holder)}


def name_of(test: unittest.TestCase) -> str:
    """The case's name in the suite."""
    return test._testMethodName.removesuffix(DEVICE)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")  # cases divide by zero on purpose
        yield


def ran(runtime: str, wanted: Callable[[str], bool]) -> dict[str, str]:
    """Case -> "" if it passed, else the last line of its message."""
    result = unittest.TestResult()
    with tempfile.TemporaryDirectory() as home, quiet():
        os.environ["ONNX_MODELS"] = home  # the folder in which the runner keeps real models
        tests = {name_of(test): test for test in cases(runtime, wanted)}
        unittest.TestSuite(tests.values()).run(result)
        del os.environ["ONNX_MODELS"]
    out = dict.fromkeys(tests, "")
    for test, said in [*result.failures, *result.errors, *result.skipped]:
        out[name_of(test)] = said.strip().splitlines()[-1] or "skipped"
    return out


def conformed(runtime: str, filter: str = "*") -> dict[str, str]:
    """Case -> the outcome of the suite's own rule, from the command's report."""
    command = [str(COMMAND), "conform", "--target", runtime, "--suite", "onnx", "--filter", filter, "--runs", "1"]
    done = subprocess.run([*command, "--json"], cwd=ROOT, capture_output=True, text=True, check=False)
    (run,) = json.loads(done.stdout)["runs"]
    return {case["name"]: case["compat"] for case in run["cases"]}


def in_share(name: str, part: int, parts: int) -> bool:
    """True for a fixed part of the suite, by hash."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % parts == part


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runtime", action="append", choices=RUNTIMES)
    parser.add_argument("--share", default="0/1", metavar="K/N", help="only a part of the cases, by hash")
    arguments = parser.parse_args()
    part, parts = map(int, arguments.share.split("/"))
    apart = 0
    for runtime in arguments.runtime or RUNTIMES:
        here = ran(runtime, lambda name: in_share(name, part, parts))
        there = {name: said for name, said in conformed(runtime).items() if in_share(name, part, parts)}
        passed = sum(not said for said in here.values()), sum(said == "pass" for said in there.values())
        print(f"{runtime}: the official runner passes {passed[0]} of {len(here)}, conform {passed[1]} of {len(there)}")
        for name in sorted(here.keys() | there.keys()):
            said, compat = here.get(name, "no such case"), there.get(name, "no such case")
            differ = (not said) != (compat == "pass")
            if differ or name in KNOWN:
                apart += differ != (name in KNOWN)
                why = KNOWN.get(name, "") if differ else "no longer known"
                print(f"  {name}: the runner: {said or 'passes'}; conform: {compat}" + (f" ({why})" if why else ""))
    return 1 if apart else 0


if __name__ == "__main__":
    sys.exit(main())
