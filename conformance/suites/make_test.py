"""Tests the suite makers: the pinned suite is complete and reproducible, and the cases of an old wheel are found."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from conformance.suites import released
from conformance.suites.make import make_suite

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("suites") / "pinned"
    make_suite(onnx.__version__, out)
    return out


def test_pinned_suite_is_whole(suite: Path) -> None:
    counts = {folder.name: len(list(folder.iterdir())) for folder in suite.iterdir() if folder.is_dir()}
    assert counts == {"node": 1884, "simple": 26, "pytorch-converted": 82, "pytorch-operator": 35, "real": 9}
    for case in suite.glob("*/*"):
        facts = json.loads((case / "case.json").read_text())
        assert (facts["name"], facts["kind"]) == (case.name, case.parent.name)
        assert (case / "model.onnx").is_file()
        assert list(case.glob("test_data_set_0/output_*.pb"))


def test_manifest_holds_every_file(suite: Path) -> None:
    manifest = json.loads((suite / "manifest.json").read_text())
    assert manifest["cases"] == 2036
    files = {p.relative_to(suite).as_posix() for p in suite.rglob("*") if p.is_file()} - {"manifest.json"}
    assert set(manifest["files"]) == files
    name = "node/test_abs/model.onnx"
    assert manifest["files"][name] == hashlib.sha256((suite / name).read_bytes()).hexdigest()


def test_two_makings_give_the_same_bytes(suite: Path, tmp_path: Path) -> None:
    out = tmp_path / "again"
    command = [sys.executable, "-m", "conformance.suites.make", "pinned", "--out", str(out)]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "PYTHONHASHSEED": "12345"})
    assert (out / "manifest.json").read_bytes() == (suite / "manifest.json").read_bytes()
    assert not [path for path in tmp_path.iterdir() if path != out], "staging is left behind"


def test_tolerances_are_the_suites_own(suite: Path) -> None:
    facts = json.loads((suite / "real" / "test_densenet121" / "case.json").read_text())
    assert facts["rtol"] == 2e-3


def test_light_inputs_are_the_runners_dummy_data(suite: Path) -> None:
    from onnx.backend.test.runner import Runner

    folder = suite / "real" / "test_squeezenet"
    model = onnx.load(folder / "model.onnx")
    initialized = {tensor.name for tensor in model.graph.initializer}
    info = next(one for one in model.graph.input if one.name not in initialized)
    made = numpy_helper.to_array(onnx.load_tensor(folder / "test_data_set_0" / "input_0.pb"))
    np.testing.assert_array_equal(made, Runner.generate_dummy_data(info))


def test_a_wheels_folders_are_cases_and_addresses_are_not(tmp_path: Path) -> None:
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    model = helper.make_model(helper.make_graph([helper.make_node("Abs", ["x"], ["y"])], "g", [info], [out]))
    one = tmp_path / "data" / "node" / "test_one"
    (one / "test_data_set_0").mkdir(parents=True)
    onnx.save(model, one / "model.onnx")
    (one / "data.json").write_text('{"rtol": 0.5}')
    address = tmp_path / "data" / "real" / "test_far"
    address.mkdir(parents=True)
    (address / "data.json").write_text('{"url": "https://example.com/far.tar.gz", "model_name": "far"}')
    root = tmp_path / "suite"
    root.mkdir()
    released.copy_cases(root, tmp_path / "data", "1.2.1")
    assert sorted(path.relative_to(root).as_posix() for path in root.glob("*/*")) == ["node/test_one"]
    assert json.loads((root / "node" / "test_one" / "case.json").read_text())["rtol"] == 0.5


def test_an_unknown_release_is_refused_by_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from conformance.suites.make import main

    assert main(["0.0.7", "--out", str(tmp_path / "none")]) == 7
    assert "0.0.7" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
