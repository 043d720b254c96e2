"""The whole pinned suite on our own targets: a case is right by the suite's own rule and by the judge, or explained."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import onnx
import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build")) / "touchstone"
SUITES = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "touchstone" / "suites"
OURS = ("reference", "fast")
CASES = 2036
NO_LIMIT = "86400"  # seconds; ctest ends hanging programs, and a busy machine must not end any
# open: the standard leaves it open, or nothing can judge it
NO_COMPLAINT = ("exact", "within", "in-set", "profile", "open")


def complaints(cases: list[dict[str, Any]]) -> list[str]:
    """Cases that are not right and whose outcome nothing explains; unsupported ones are not right."""
    return [
        f"{case['kind']}/{case['name']}: suite {case['compat']}, judge {case['verdict']}: {case['detail']}"
        for case in cases
        if not (case["compat"] == "pass" and case["verdict"].split("(")[0] in NO_COMPLAINT) and not case["explained"]
    ]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    file = tmp_path_factory.mktemp("conform") / "conform.json"
    words = [word for target in OURS for word in ("--target", target)]
    command = [COMMAND, "conform", "--suite", "onnx", *words, "--timeout", NO_LIMIT, "--json", file]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return {run["target"]: run for run in json.loads(file.read_text(encoding="utf-8"))["runs"]}


@pytest.mark.parametrize("target", OURS)
def test_every_case_runs(target: str, runs: dict[str, dict[str, Any]]) -> None:
    """The cases that ran are those of the suite's manifest, which was written when the cases were made."""
    files = json.loads((SUITES / onnx.__version__ / "manifest.json").read_text(encoding="utf-8"))["files"]
    made = {name.rpartition("/")[0] for name in files if name.endswith("/model.onnx")}
    ran = {f"{case['kind']}/{case['name']}" for case in runs[target]["cases"]}
    assert ran == made
    assert len(ran) == CASES


@pytest.mark.parametrize("target", OURS)
def test_every_case_is_right_or_explained(target: str, runs: dict[str, dict[str, Any]]) -> None:
    found = complaints(runs[target]["cases"])
    assert not found, f"{len(found)} cases of {target}:\n" + "\n".join(found[:40])
    assert runs[target]["summary"]["unexplained"] == 0


def case(compat: str, verdict: str, *explained: str) -> dict[str, Any]:
    row = {"name": "test_a", "kind": "node", "compat": compat, "verdict": verdict, "detail": "why"}
    return row | {"explained": list(explained)}


@pytest.mark.parametrize("verdict", ["exact", "within(0.5)", "in-set", "profile", "open"])
def test_what_is_right_is_no_complaint(verdict: str) -> None:
    assert complaints([case("pass", verdict)]) == []
    assert complaints([case("wrong-value", verdict)])
    assert complaints([case("wrong-value", verdict, "E001")]) == []


@pytest.mark.parametrize("verdict", ["wrong-value", "crash", "unsupported", "mistrusted", "harness", "timeout"])
def test_what_is_not_right_is_one(verdict: str) -> None:
    assert complaints([case("pass", verdict)]) == [f"node/test_a: suite pass, judge {verdict}: why"]
    assert complaints([case("pass", verdict, "E001")]) == []
