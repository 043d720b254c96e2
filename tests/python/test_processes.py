"""Calls that start processes: the command, and interpreters that import the module, which a sanitized one cannot do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import touchstone
from onnx import numpy_helper

from tests.python import models
from tests.python.built import COMMAND, ENVIRONMENT, PACKAGES
from tests.python.test_limits import counting
from tests.python.test_module import BAD, told
from tests.python.test_session import refused


def test_a_module_in_the_place_of_onnxruntime() -> None:
    text = """
import sys, touchstone
sys.modules["onnxruntime"] = touchstone
import onnxruntime as ort
from onnxruntime import InferenceSession, IOBinding
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument
from onnxruntime.capi._pybind_state import Fail, get_available_providers
from onnxruntime.capi.onnxruntime_inference_collection import OrtValue
import onnxruntime.capi
assert OrtValue is ort.OrtValue and issubclass(InvalidArgument, ort.Error) and ort.capi
assert get_available_providers() == ["CPUExecutionProvider"]
"""
    done = subprocess.run(
        [sys.executable, "-c", text],
        env=ENVIRONMENT | {"PYTHONPATH": str(PACKAGES)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_functions_call_the_command(tmp_path: Path) -> None:
    path, data = tmp_path / "m.onnx", tmp_path / "data"
    path.write_bytes(models.parsed("g (float[n] x) => (float[n] y) { y = Neg(x) }"))
    data.mkdir()
    for name, value in (("input_0.pb", [1, 2]), ("output_0.pb", [-1, -2])):
        (data / name).write_bytes(numpy_helper.from_array(np.float32(value), "x").SerializeToString())
    assert touchstone.judge(path, data) == told("judge", path, "--test-data", data)
    (data / "output_0.pb").write_bytes(numpy_helper.from_array(np.float32([-1, 2]), "y").SerializeToString())
    wrong = touchstone.judge(str(path), str(data), class_="strict", sample_above=1000)
    assert wrong == told("judge", path, "--test-data", data, "--class", "strict", code=1)
    assert touchstone.spec("Clip", opset=13) == told("spec", "Clip", "--opset", "13")
    assert len(touchstone.spec()["versions"]) > 600
    report = touchstone.compare(path, "reference", "fast:threads=1", random=True, seed=1, dim={"n": 4})
    assert report["schema"].startswith("touchstone.compare/")
    report = touchstone.conform(["reference"], suite="spec", filter="Clip-13*", first=3, jobs=1)
    assert report["runs"][0]["target"] == "reference" and len(report["runs"][0]["cases"]) == 3


def test_errors_of_the_command_are_errors_here(tmp_path: Path) -> None:
    (tmp_path / "bad.onnx").write_bytes(BAD)
    error = refused(lambda: touchstone.compare(tmp_path / "bad.onnx", "reference", "fast", random=True))
    assert (error.kind, error.rule) == ("invalid_model", "model/cycle") and error.spec_line
    error = refused(lambda: touchstone.spec("Clip", opsets=13))
    assert error.kind == "usage" and "--opsets" in error.message and "--opset" in error.help
    assert refused(lambda: touchstone.conform("no such target", jobs=1)).kind == "usage"


def run_module(packages: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "touchstone", *words],
        env=ENVIRONMENT | {"PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_the_module_runs_the_command(tmp_path: Path) -> None:
    (tmp_path / "bad.onnx").write_bytes(BAD)
    done = run_module(PACKAGES, "check", str(tmp_path / "bad.onnx"))
    direct = subprocess.run([COMMAND, "check", tmp_path / "bad.onnx"], capture_output=True, text=True, env=ENVIRONMENT)
    assert (done.returncode, done.stdout, done.stderr) == (3, direct.stdout, direct.stderr)


def test_without_the_command_the_module_says_so(tmp_path: Path) -> None:
    shutil.copytree(PACKAGES / "touchstone", tmp_path / "site" / "touchstone")
    done = run_module(tmp_path / "site", "check", "m.onnx")
    assert done.returncode == 4 and done.stdout == ""
    assert "the command is not beside the package" in done.stderr and "make build" in done.stderr


def test_the_interpreter_waits_for_a_run_that_calls_back(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(counting(1))
    text = "import numpy, touchstone\n"
    text += "session = touchstone.InferenceSession('m.onnx')\n"
    text += "session.run_async(None, {'trips': numpy.array(200_000)}, lambda *given: print(*given), 'mine')\n"
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=tmp_path,
        env=ENVIRONMENT | {"PYTHONPATH": str(PACKAGES)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stdout.split(), done.stderr) == (
        0,
        "[array([200000.], dtype=float32)] mine".split(),
        "",
    )
