"""Tests targets written in Python as a user starts them: one that misbehaves in every way, and those of vendors."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

ROOT = Path(__file__).resolve().parents[2]
COMMAND = Path(os.environ.get("TOUCHSTONE_BUILD", "build")) / "touchstone"
ONNXRUNTIME = ROOT / ".venv-onnxruntime" / "bin" / "python"
BAD = "python:conformance.targets.bad_target:BadTarget"
A, B = np.array([1000, 5], np.int64), np.array([1, 2], np.int64)

ENDLESS = {"hang": "while it ran", "hang-loading": "while it loaded the model"}
VERDICTS = {
    "fine": "exact",
    "print": "exact",
    "crash": "crash",
    "leave": "crash",
    "raise": "crash",
    "no-dict": "crash",
    "hang": "timeout",
    "hang-loading": "timeout",
    "memory": "out-of-memory",
    "refuse": "unsupported",
    "call-invalid": "rejected-valid",
    "too-few": "unwritten",
    "wrong-value": "wrong-value",
    "wrong-type": "wrong-type",
    "wrong-shape": "wrong-shape",
    "no-value": "wrong-type",
    "strange-array": "wrong-type",
    "write-input": "wrote-input",
    "differ": "nondeterministic",
}


def write_case(folder: Path, graph_name: str, ir_version: int = 10, opset: int = 21) -> None:
    infos = [helper.make_tensor_value_info(name, onnx.TensorProto.INT64, [2]) for name in "aby"]
    graph = helper.make_graph([helper.make_node("Add", ["a", "b"], ["y"])], graph_name, infos[:2], infos[2:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for name, value in {"input_0": A, "input_1": B, "output_0": A + B}.items():
        (data / f"{name}.pb").write_bytes(numpy_helper.from_array(value).SerializeToString())


def conform(suite: Path, target: str, *words: object) -> dict[str, dict]:
    """Returns each case's row, by name."""
    command = [COMMAND, "conform", "--target", target, "--suite", suite, "--json", *words]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, cwd=ROOT, check=False)
    assert done.stdout, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert run["target"] == target
    return {case["name"]: case for case in run["cases"]}


@pytest.fixture(scope="module")
def misdeeds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    """Runs all faults in two runs, which also shows that a run continues. A short limit applies only to endless
    ones."""
    rows: dict[str, dict] = {}
    for name, deeds, limit in (("ends", VERDICTS.keys() - ENDLESS, ()), ("endless", ENDLESS, ("--timeout", 4))):
        suite = tmp_path_factory.mktemp(name)
        for deed in deeds:
            write_case(suite / "node" / deed, deed)
        rows |= conform(suite, BAD, "--memory", 1, "--jobs", 2, *limit)
    return rows


@pytest.mark.parametrize("deed", VERDICTS)
def test_each_fault_has_its_verdict(misdeeds: dict[str, dict], deed: str) -> None:
    assert misdeeds[deed]["verdict"] == VERDICTS[deed], misdeeds[deed]["detail"]


def test_details_say_what_happened(misdeeds: dict[str, dict]) -> None:
    said = {deed: misdeeds[deed]["detail"] for deed in VERDICTS}
    assert "signal 11" in said["crash"]
    assert said["leave"] == "exit status 3"
    assert said["raise"] == "RuntimeError: surprise"
    assert said["refuse"] == "no kernel for it"
    assert all(said[deed].endswith(when) for deed, when in ENDLESS.items())
    assert "python dict" in said["no-value"] and "datetime64" in said["strange-array"]
    assert said["write-input"] == "input 'a' is not what it was before the run"
    assert said["differ"] == "run 2 on the same inputs gave another 'y'"


def test_values_stand_beside_the_expected_ones(misdeeds: dict[str, dict]) -> None:
    assert misdeeds["wrong-value"]["values"][0] == ["y [0]", "1001 (0x00000000000003e9)", "1002 (0x00000000000003ea)"]
    assert misdeeds["crash"]["values"] == []
    assert {row["op"] for row in misdeeds.values()} == {"Add"} and {row["since"] for row in misdeeds.values()} == {14}


def test_a_crash_that_an_earlier_case_caused_says_so(tmp_path: Path) -> None:
    for name in ("a-fine", "b-poison", "c-fine", "d-fine"):
        write_case(tmp_path / name, name[2:])
    rows = conform(tmp_path, BAD, "--jobs", 1, "--runs", 1)
    assert [row["verdict"] for row in rows.values()] == ["exact", "exact", "crash", "exact"]
    assert "only after 2 other cases" in rows["c-fine"]["detail"]


def test_one_run_sees_no_difference(tmp_path: Path) -> None:
    write_case(tmp_path / "case", "print")
    assert conform(tmp_path, BAD, "--runs", 1)["case"]["verdict"] == "exact"


def test_the_evaluator_of_the_onnx_package(tmp_path: Path) -> None:
    write_case(tmp_path / "case", "case")
    row = conform(tmp_path, "onnx-reference")["case"]
    assert (row["compat"], row["verdict"]) == ("pass", "exact")


def test_a_command_is_a_target(tmp_path: Path) -> None:
    """Any language can implement the protocol; this one has a library for the messages."""
    write_case(tmp_path / "suite" / "case", "fine")
    worker = ROOT / "conformance" / "targets" / "worker.py"
    row = conform(tmp_path / "suite", f"command:{sys.executable} {worker} --target {BAD}")["case"]
    assert row["verdict"] == "exact"


def test_what_does_not_start_is_refused_before_the_first_run(tmp_path: Path) -> None:
    write_case(tmp_path / "case", "case")

    def code(target: str) -> tuple[int, str]:
        command = [str(COMMAND), "conform", "--target", target, "--suite", str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT, check=False)
        return done.returncode, done.stderr

    assert code("nobody")[0] == 2
    assert code("reference:relabel=ir")[0] == 2
    assert code("command:")[0] == 2
    status, said = code("python:no.such.module:Mine")
    assert status == 7 and "No module named 'no'" in said
    status, said = code("onnxruntime:python=/nowhere/python")
    assert status == 7 and "/nowhere/python" in said
    status, said = code("onnx-reference:relabel=name")
    assert status == 7 and "relabel=name" in said


needs_onnxruntime = pytest.mark.skipif(not ONNXRUNTIME.exists(), reason="onnxruntime is not installed")


@needs_onnxruntime
def test_onnxruntime_gets_the_model_as_it_is_unless_told_otherwise(tmp_path: Path) -> None:
    write_case(tmp_path / "today", "case")
    write_case(tmp_path / "tomorrow", "case", ir_version=14)
    rows = conform(tmp_path, "onnxruntime")
    assert (rows["today"]["compat"], rows["today"]["verdict"]) == ("pass", "exact")
    assert (rows["tomorrow"]["compat"], rows["tomorrow"]["verdict"]) == ("unsupported", "unsupported")
    rows = conform(tmp_path, "onnxruntime:relabel=ir")
    assert [row["verdict"] for row in rows.values()] == ["exact", "exact"]
    assert rows["today"]["detail"] == ""
    assert rows["tomorrow"]["detail"].startswith("IR version 14 stamped down to 1")


@needs_onnxruntime
def test_an_opset_is_stamped_down(tmp_path: Path) -> None:
    write_case(tmp_path / "case", "case", ir_version=14, opset=28)
    row = conform(tmp_path, "onnxruntime:relabel=opset")["case"]
    assert row["verdict"] == "exact", row["detail"]
    assert "opset 28 stamped down to 2" in row["detail"] and "IR version 14" in row["detail"]


@needs_onnxruntime
def test_a_backend_of_the_standards_own_door(tmp_path: Path) -> None:
    write_case(tmp_path / "case", "case")
    row = conform(tmp_path, f"backend:onnxruntime.backend:python={ONNXRUNTIME}")["case"]
    assert row["verdict"] == "exact", row["detail"]


def test_an_interrupt_ends_a_run_and_leaves_nothing_but_its_log(tmp_path: Path) -> None:
    write_case(tmp_path / "suite" / "node" / "hang", "hang")
    scratch, log = tmp_path / "scratch", tmp_path / "log.jsonl"
    scratch.mkdir()
    command = [COMMAND, "conform", "--target", BAD, "--suite", tmp_path / "suite", "--log", log]
    environment = os.environ | {"TMPDIR": str(scratch)}
    with subprocess.Popen(
        list(map(str, command)), cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as ran:
        while ran.poll() is None and not any(scratch.iterdir()):
            os.sched_yield()
        ran.send_signal(signal.SIGINT)
        _, told = ran.communicate(timeout=60)
    assert ran.returncode == 130, told
    assert "error[cancelled]" in told and "--resume goes on where the log ends" in told
    assert not any(scratch.iterdir()) and log.exists()


MORTAL = """
import os, pathlib, signal
import onnx

FOLDER = pathlib.Path(__file__).parent
(FOLDER / f"import-{os.getpid()}").touch()


class WeightError(Exception):
    touchstone_fault = "unsupported"


class Mortal:
    def load(self, model, options):
        (FOLDER / f"worker-{os.getpid()}").touch()
        return onnx.load_from_string(model).graph.output[0].name

    def run(self, name, feeds):
        if not feeds:
            raise WeightError("only inputs are negated")
        (x,) = feeds.values()
        if (x < 0).any():
            os.kill(os.getpid(), signal.SIGSEGV)
        return {name: -x}
"""


def test_a_campaign_imports_a_runtime_once(tmp_path: Path) -> None:
    """A death and each run of a finding alone need a fresh worker, which a fork gives."""
    (tmp_path / "mortal.py").write_text(MORTAL, encoding="utf-8")
    command = [ROOT / COMMAND, "fuzz", "--target", "python:mortal:Mortal", "--level", "op", "--ops", "Neg-*"]
    options = ["--seed", 1, "--count", 40, "--jobs", 2, "--no-reduce", "--dir", "found"]
    words = list(map(str, command + options))
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, cwd=tmp_path, check=False)
    assert done.returncode == 1, done.stderr
    state = json.loads((tmp_path / "found" / "state.json").read_text(encoding="utf-8"))
    counts = state["campaigns"][0]["counts"]
    assert counts["crash"] > 5 and counts["exact"] > 0
    details = [finding["outcome"]["detail"] for finding in state["findings"]]
    assert details and all(detail == "signal 11 (Segmentation fault)" for detail in details)
    assert len(list(tmp_path.glob("import-*"))) == 1
    assert len(list(tmp_path.glob("worker-*"))) > counts["crash"]


def test_the_first_cases_are_those_of_the_filter(tmp_path: Path) -> None:
    """The first ten cases of the whole suite include none of the operator; of the filtered cases one is included."""
    command = [COMMAND, "conform", "--target", "reference", "--suite", "spec", "--filter", "Clip-13*"]
    done = subprocess.run(
        [*map(str, command), "--first", "1", "--json"],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (case,) = json.loads(done.stdout)["runs"][0]["cases"]
    assert case["name"].startswith("Clip-13")


def test_the_example_of_a_worker_is_a_target(tmp_path: Path) -> None:
    """Runs docs/examples/worker.py as a vendor would: with protoc's output of the protocol, and no module of this
    project."""
    protocol = ROOT / "conformance" / "targets"
    made = [shutil.which("protoc"), f"--proto_path={protocol}", f"--python_out={tmp_path}", "target.proto"]
    subprocess.run(made, check=True, timeout=60)
    shutil.copy(ROOT / "docs" / "examples" / "worker.py", tmp_path)
    write_case(tmp_path / "suite" / "node" / "fine", "fine")
    write_case(tmp_path / "suite" / "node" / "wrong", "wrong")
    wrong = numpy_helper.from_array(np.array([True, False]))
    (tmp_path / "suite" / "node" / "wrong" / "test_data_set_0" / "input_1.pb").write_bytes(wrong.SerializeToString())
    cases = conform(tmp_path / "suite", f"command:{sys.executable} {tmp_path / 'worker.py'}")
    assert cases["fine"]["verdict"] == "exact"
    assert cases["wrong"]["verdict"] not in ("exact", "crash", "harness")
    text = (ROOT / "docs" / "examples" / "worker.py").read_text(encoding="utf-8")
    body = text.split('"""', 2)[2]
    assert sum(1 for line in body.splitlines() if line.strip()) <= 40


OTHER_PACKAGE = """
from pathlib import Path
from types import SimpleNamespace


class InferenceSession:
    def __init__(self, path, intra_op_num_threads):
        with (Path(__file__).parent / "sessions.txt").open("a") as file:
            file.write("one more\\n")

    def get_outputs(self):
        return [SimpleNamespace(name="y")]

    def run(self, names, feeds):
        return [feeds["a"] + feeds["b"]]
"""


def test_the_example_of_another_build_keeps_the_session_of_a_model(tmp_path: Path) -> None:
    (tmp_path / "touchstone.py").write_text(OTHER_PACKAGE, encoding="utf-8")
    for name in ("one", "two"):
        write_case(tmp_path / "suite" / "node" / name, name)
        data = tmp_path / "suite" / "node" / name
        shutil.copytree(data / "test_data_set_0", data / "test_data_set_1")
    target = f"python:docs.examples.other_build:OtherBuild:package={tmp_path}"
    cases = conform(tmp_path / "suite", target, "--jobs", 1)
    assert {case["verdict"] for case in cases.values()} == {"exact"}
    assert len((tmp_path / "sessions.txt").read_text(encoding="utf-8").splitlines()) == 2
