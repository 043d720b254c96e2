"""Tests `touchstone conform` and `touchstone judge` as commands, on cases made here, so that nothing is downloaded."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

COMMAND = Path(os.environ.get("TOUCHSTONE_BUILD", "build")) / "touchstone"
FIELDS = ["name", "kind", "compat", "verdict", "utilisation", "detail", "op", "since", "values", "judged", "explained"]


def touchstone(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(COMMAND), *map(str, words)], capture_output=True, text=True, timeout=300, check=False)


def write_case(folder: Path, nodes: list[onnx.NodeProto], inputs: list[np.ndarray], expected: np.ndarray) -> Path:
    names = "abc"[: len(inputs)]
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for n, x in zip(names, inputs, strict=True)
    ]
    out = helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(expected.dtype), expected.shape)
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("nobody.knows", 1)]
    model = helper.make_model(helper.make_graph(nodes, "g", infos, [out]), opset_imports=imports, ir_version=10)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for position, value in enumerate(inputs):
        (data / f"input_{position}.pb").write_bytes(numpy_helper.from_array(value).SerializeToString())
    (data / "output_0.pb").write_bytes(numpy_helper.from_array(expected).SerializeToString())
    return folder


A = np.array([1000, 5], np.int64)
ADD = [helper.make_node("Add", ["a", "b"], ["y"])]
TWO = [helper.make_node("Add", ["a", "b"], ["c"]), helper.make_node("Add", ["c", "b"], ["y"])]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    root = tmp_path / "suite"
    write_case(root / "node" / "test_add", ADD, [A, A], A + A)
    write_case(root / "node" / "test_add_expects_wrong", ADD, [A, A], A)
    write_case(root / "node" / "test_stranger", [helper.make_node("Frob", ["a"], ["y"], domain="nobody.knows")], [A], A)
    write_case(root / "model" / "test_two", TWO, [A, A], 3 * A)
    return root


def run_json(*words: object) -> tuple[int, dict]:
    done = touchstone("conform", "--target", "reference", "--json", *words)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_every_case_is_judged_twice(suite: Path) -> None:
    code, found = run_json("--suite", suite)
    assert code == 0
    assert found["schema"] == "touchstone.conform/1"
    (run,) = found["runs"]
    assert (run["target"], run["suite"]) == ("reference", str(suite))
    unjudged = [field for field in FIELDS if field != "judged"]  # no single node is judged
    assert all(list(case) == (FIELDS if case["name"].startswith("test_add") else unjudged) for case in run["cases"])
    judged = {"node": "Add-14", "form": "elementwise", "type": "int64", "elements": 2, "open": 0, "resolution": 0.0}
    assert [case["judged"] for case in run["cases"] if "judged" in case] == [judged, judged]
    rows = {f"{case['kind']}/{case['name']}": (case["compat"], case["verdict"]) for case in run["cases"]}
    assert rows == {
        "model/test_two": ("pass", "exact"),
        "node/test_add": ("pass", "exact"),
        "node/test_add_expects_wrong": ("wrong-value", "exact"),
        "node/test_stranger": ("unsupported", "unsupported"),
    }
    assert run["summary"]["cases"] == 4
    assert (run["summary"]["pass"], run["summary"]["fail"], run["summary"]["open"]) == (3, 0, 0)


def test_several_nodes_are_as_right_as_each_of_them(tmp_path: Path) -> None:
    x = np.linspace(1, 2, 6, dtype=np.float32)
    nodes = [helper.make_node("Add", ["a", "b"], ["c"], "sum"), helper.make_node("Mul", ["c", "b"], ["y"], "product")]
    write_case(tmp_path / "suite" / "model" / "test_right", nodes, [x, x], (x + x) * x)
    write_case(tmp_path / "suite" / "model" / "test_expects_wrong", nodes, [x, x], x)
    faulty = "python:conformance.compare.bad_targets:Faulty:node=product:by=1e-4:when="
    targets = [word for target in ("reference", faulty + "always", faulty + "single") for word in ("--target", target)]
    done = touchstone("conform", *targets, "--suite", tmp_path / "suite", "--json")
    right, wrong, shy = (
        {case["name"]: (case["compat"], case["verdict"], case["detail"]) for case in run["cases"]}
        for run in json.loads(done.stdout)["runs"]
    )
    assert right["test_right"] == ("pass", "within", "2 nodes: 1 exact, 1 within")
    assert right["test_expects_wrong"][:2] == ("wrong-value", "within")
    assert "suite's rule: output 'y'" in right["test_expects_wrong"][2]
    assert wrong["test_right"][:2] == ("pass", "wrong-value")  # wrong by less than the suite's tolerance
    assert "2 nodes: 1 exact, 1 wrong-value; node 1 (Mul-14): output 'y'" in wrong["test_right"][2]
    # Right if every value is tapped, which does not confirm the first run.
    assert shy["test_right"][:2] == ("pass", "open")
    assert "its outputs are others" in shy["test_right"][2]
    assert shy["test_expects_wrong"][:2] == ("wrong-value", "wrong-value")


def test_a_fail_verdict_is_exit_one_and_names_its_replay(suite: Path) -> None:
    (suite / "node" / "test_add" / "model.onnx").write_bytes(b"no model at all")
    done = touchstone("conform", "--target", "reference", "--suite", suite)
    assert done.returncode == 1
    assert "rejected-valid node/test_add" in done.stderr
    assert "--filter 'node/test_add'" in done.stderr
    assert done.stdout == ""


def test_an_expectation_is_judged_without_a_runtime(suite: Path) -> None:
    done = touchstone("conform", "--target", "expectation", "--suite", suite, "--json")
    assert done.returncode == 1
    (run,) = json.loads(done.stdout)["runs"]
    assert {case["name"]: case["verdict"] for case in run["cases"]} == {
        "test_add": "exact",
        "test_add_expects_wrong": "wrong-value",
        "test_stranger": "unsupported",
        "test_two": "open",
    }


def test_the_first_cases_are_those_of_the_least_hashes(suite: Path) -> None:
    for hash_, folder in zip(("c", "a", "d", "b"), sorted(suite.glob("*/*")), strict=True):
        (folder / "case.json").write_text(json.dumps({"hash": hash_, "releases": {"1.2.1": [folder.name]}}))
    _, found = run_json("--suite", suite, "--first", 2)
    assert [case["name"] for case in found["runs"][0]["cases"]] == ["test_add", "test_stranger"]
    (suite / "node" / "test_add" / "case.json").unlink()
    done = touchstone("conform", "--target", "reference", "--suite", suite, "--first", 2)
    assert done.returncode == 2 and "no hashes" in done.stderr


def test_filter_and_shards_choose_cases(suite: Path) -> None:
    _, found = run_json("--suite", suite, "--filter", "node/test_add*")
    assert [case["name"] for case in found["runs"][0]["cases"]] == ["test_add", "test_add_expects_wrong"]
    names = []
    for shard in ("0/2", "1/2"):
        names += [case["name"] for case in run_json("--suite", suite, "--shard", shard)[1]["runs"][0]["cases"]]
    assert len(names) == len(set(names)) == 4
    assert touchstone("conform", "--target", "reference", "--suite", suite, "--shard", "2/2").returncode == 2
    assert touchstone("conform", "--target", "reference", "--suite", suite, "--filter", "none").returncode == 2
    assert touchstone("conform", "--target", "nobody", "--suite", suite).returncode == 2
    assert touchstone("conform", "--target", "reference", "--suite", suite / "absent").returncode == 7


def test_a_log_resumes_where_it_ends(suite: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    words = ("conform", "--target", "reference", "--suite", suite, "--log", log)
    assert touchstone(*words, "--filter", "node/*").returncode == 0
    lines = log.read_text().splitlines()
    assert len(lines) == 3
    log.write_text("\n".join(line.replace('"verdict":"exact"', '"verdict":"in-set"') for line in lines) + "\n")
    _, found = run_json("--suite", suite, "--log", log, "--resume")
    rows = {case["name"]: case["verdict"] for case in found["runs"][0]["cases"]}
    assert rows["test_add"] == "in-set", "a case in the log was run again"
    assert rows["test_two"] == "exact"
    assert len(log.read_text().splitlines()) == 4


def test_the_page_holds_the_results(suite: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert touchstone("conform", "--target", "reference", "--suite", suite, "--html", page).returncode == 0
    assert "test_add_expects_wrong" in page.read_text()


def test_judge_says_whether_outputs_are_right(tmp_path: Path) -> None:
    right = write_case(tmp_path / "right", ADD, [A, A], A + A)
    wrong = write_case(tmp_path / "wrong", ADD, [A, A], A + A + 1)
    two = write_case(tmp_path / "two", TWO, [A, A], 3 * A)
    done = touchstone("judge", right / "model.onnx", "--test-data", right / "test_data_set_0")
    assert done.returncode == 0 and "exact" in done.stdout
    done = touchstone("judge", wrong / "model.onnx", "--test-data", wrong / "test_data_set_0", "--json")
    assert done.returncode == 1
    (output,) = json.loads(done.stdout)["outputs"]
    assert output["verdict"] == "wrong-value" and "2001" in output["actual"]
    assert touchstone("judge", two / "model.onnx", "--test-data", two / "test_data_set_0").returncode == 4
    assert touchstone("judge", right / "model.onnx").returncode == 2


def test_judge_blames_the_first_wrong_node(tmp_path: Path) -> None:
    two = write_case(tmp_path / "two", TWO, [A, A], 3 * A)
    taps = tmp_path / "taps"
    assert touchstone("run", two / "model.onnx", "--test-data", two / "test_data_set_0", "--tap", taps).returncode == 0
    assert touchstone("judge", two / "model.onnx", "--taps", taps).returncode == 0
    others = tmp_path / "others"
    others.mkdir()
    for name, value in {"a": A, "b": A, "c": 2 * A + 1, "y": 3 * A + 1}.items():
        np.save(others / f"{name}.npy", value)
    (others / "values.json").write_text(json.dumps({name: f"{name}.npy" for name in "abcy"}))
    done = touchstone("judge", two / "model.onnx", "--taps", others, "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["guilty"] == 0
    assert [node["verdict"] for node in found["nodes"]] == ["wrong-value", "exact"]


def waiver(**more: str) -> dict:
    row = {
        "target": "reference",
        "case": "test_two*",
        "link": "https://example.org/1",
        "reason": "known",
        "expires": "9999-12-31",
    }
    return {"schema": "touchstone.waivers/1", "waivers": [row | more]}


def test_a_fail_that_is_waived_fails_no_run_and_says_why(tmp_path: Path) -> None:
    root, file = tmp_path / "suite", tmp_path / "waivers.json"
    (write_case(root / "model" / "test_two", TWO, [A, A], A) / "model.onnx").write_bytes(b"no model at all")
    code, object_ = run_json("--suite", root)
    assert (code, object_["runs"][0]["cases"][0]["verdict"]) == (1, "rejected-valid")
    file.write_text(json.dumps(waiver()))
    code, object_ = run_json("--suite", root, "--waivers", file)
    (case,) = object_["runs"][0]["cases"]
    assert (code, case["verdict"], object_["runs"][0]["summary"]["waived"]) == (0, "waived", 1)
    assert case["detail"].startswith("waived until 9999-12-31: known (https://example.org/1); it was rejected-valid: ")
    assert case["compat"] == "rejected-valid"


def test_a_waiver_that_waives_nothing_is_named(tmp_path: Path) -> None:
    root, file = tmp_path / "suite", tmp_path / "waivers.json"
    write_case(root / "model" / "test_two", TWO, [A, A], 3 * A)
    file.write_text(json.dumps(waiver(target="onnxruntime")))
    done = touchstone("conform", "--target", "reference", "--suite", root, "--waivers", file)
    assert done.returncode == 0
    assert "waiver of test_two* on onnxruntime waives nothing" in done.stderr


def test_an_expired_waiver_is_refused_before_anything_runs(tmp_path: Path) -> None:
    root, file = tmp_path / "suite", tmp_path / "waivers.json"
    write_case(root / "model" / "test_two", TWO, [A, A], A)
    file.write_text(json.dumps(waiver(expires="2020-01-31")))
    done = touchstone("conform", "--target", "reference", "--suite", root, "--waivers", file)
    assert done.returncode == 2
    assert "expired on 2020-01-31" in done.stderr
    assert "test_two:" not in done.stderr


def test_devices_run_what_they_have_kernels_for_and_refuse_the_rest_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POCL_CACHE_DIR", str(COMMAND.parent.resolve() / "pocl"))
    monkeypatch.setenv("POCL_SIGFPE_HANDLER", "0")  # it would hide divisions by 0 of this process
    b = A.astype(np.float32)
    write_case(tmp_path / "suite" / "node" / "test_floats", ADD, [b, b], b + b)
    write_case(tmp_path / "suite" / "node" / "test_integers", ADD, [A, A], A + A)
    found = touchstone(
        *("conform", "--target", "fast:device=opencl", "--target", "fast:device=opencl,cpu", "--json"),
        *("--suite", tmp_path / "suite"),
    )
    alone, beside = ({c["name"]: c for c in run["cases"]} for run in json.loads(found.stdout)["runs"])
    assert [alone["test_floats"]["verdict"], alone["test_integers"]["verdict"]] == ["exact", "unsupported"]
    assert "the device opencl does not run the node: it has kernels for float alone" in alone["test_integers"]["detail"]
    assert {case["verdict"] for case in beside.values()} == {"exact"}
