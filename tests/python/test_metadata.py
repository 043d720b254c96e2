"""Metadata of a model's file, as a session returns it and ONNX Runtime does; providers and settings of a session."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import onnx
import pytest
import touchstone

from tests.python import models
from tests.python.built import COMMAND, ENVIRONMENT, ONNXRUNTIME

PLAIN = models.parsed("g (float[n] x) => (float[n] y) { y = Abs(x) }", ir_version=10, opset=21)
FIELDS = (
    "producer_name",
    "graph_name",
    "domain",
    "description",
    "graph_description",
    "version",
    "custom_metadata_map",
)


def described() -> onnx.ModelProto:
    model = onnx.ModelProto.FromString(PLAIN)
    model.producer_name, model.producer_version, model.domain = "exporter", "2.1", "com.example"
    model.model_version = 7
    model.doc_string, model.graph.doc_string = "what it does", "how it does it"
    for key, value in (("names", "{0: 'person'}"), ("stride", "32"), ("names", "{0: 'cat'}")):
        model.metadata_props.add(key=key, value=value)
    model.graph.node[0].doc_string = "the node"
    model.graph.node[0].metadata_props.add(key="namespace", value="top.act")
    return model


def said(model: bytes, **settings: Any) -> dict[str, Any]:
    meta = touchstone.InferenceSession(model, **settings).get_modelmeta()
    return {name: getattr(meta, name) for name in FIELDS}


@pytest.mark.parametrize("runtime", ["fast", "reference"])
def test_metadata_of_the_file(runtime: str) -> None:
    assert said(described().SerializeToString(), runtime=runtime) == {
        "producer_name": "exporter",
        "graph_name": "g",
        "domain": "com.example",
        "description": "what it does",
        "graph_description": "how it does it",
        "version": 7,
        "custom_metadata_map": {"names": "{0: 'cat'}", "stride": "32"},
    }


@pytest.mark.parametrize("model", [described().SerializeToString(), PLAIN], ids=["described", "plain"])
def test_metadata_is_what_onnxruntime_says(model: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(model)
    text = "import json, onnxruntime, sys\n"
    text += "meta = onnxruntime.InferenceSession(sys.argv[1], providers=['CPUExecutionProvider']).get_modelmeta()\n"
    text += f"print(json.dumps({{name: getattr(meta, name) for name in {FIELDS!r}}}))\n"
    done = subprocess.run(
        [str(ONNXRUNTIME), "-c", text, str(tmp_path / "m.onnx")],
        capture_output=True,
        text=True,
        timeout=300,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0, done.stderr
    assert said(model) == json.loads(done.stdout)


@pytest.mark.parametrize("command", [["optimize"], ["convert", "--opset", "17"]], ids=["optimize", "convert"])
def test_the_command_keeps_metadata(command: list[str], tmp_path: Path) -> None:
    model = described()
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    written = tmp_path / "out.onnx"
    done = subprocess.run(
        [COMMAND, command[0], tmp_path / "m.onnx", *command[1:], "-o", written],
        capture_output=True,
        text=True,
        timeout=300,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    made = onnx.load(written)
    for name in ("producer_name", "producer_version", "domain", "model_version", "doc_string", "metadata_props"):
        assert getattr(made, name) == getattr(model, name), name
    assert made.graph.doc_string == model.graph.doc_string
    assert made.graph.node[0].doc_string == "the node"
    assert made.graph.node[0].metadata_props == model.graph.node[0].metadata_props


def test_what_the_command_drops_is_named(tmp_path: Path) -> None:
    model = described()
    model.training_info.add()
    model.graph.quantization_annotation.add(tensor_name="x")
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    done = subprocess.run(
        [COMMAND, "optimize", tmp_path / "m.onnx", "-o", tmp_path / "out.onnx", "--json"],
        capture_output=True,
        text=True,
        timeout=300,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["dropped"] == ["quantization_annotation", "training_info"]
    assert "not in the saved file: quantization_annotation, training_info" in done.stderr
    made = onnx.load(tmp_path / "out.onnx")
    assert not made.training_info and not made.graph.quantization_annotation


def refused(**settings: Any) -> touchstone.Error:
    with pytest.raises(touchstone.Error) as caught:
        touchstone.InferenceSession(PLAIN, **settings)
    return caught.value


CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"


@pytest.mark.parametrize(
    "settings",
    [
        {"providers": [CUDA, CPU], "provider_options": [{}]},
        {"providers": [(CUDA, {"device_id": 0}), CPU], "provider_options": [{}, {}]},
        {"providers": [(CPU,)]},
        {"providers": [CPU, 7]},
        {"provider_options": [{"device_id": 0}]},
    ],
)
def test_providers_and_options_that_do_not_fit_are_refused(settings: dict[str, Any]) -> None:
    error = refused(**settings)
    assert error.kind == "usage" and error.help


def test_options_of_providers_are_recorded() -> None:
    def ignored(**settings: Any) -> dict[str, Any]:
        return touchstone.InferenceSession(PLAIN, **settings).ignored_options

    arena = {"arena_extend_strategy": "kSameAsRequested"}
    assert ignored(providers=[(CPU, arena)]) == {f"{CPU}.arena_extend_strategy": "kSameAsRequested"}
    assert ignored(providers=[CPU], provider_options=[{"device_id": 0}]) == {f"{CPU}.device_id": 0}
    with pytest.warns(UserWarning, match=CUDA):
        assert ignored(providers=[(CUDA, {"device_id": 1}), CPU]) == {f"{CUDA}.device_id": 1}
    assert ignored(providers=[]) == ignored() == {}


@pytest.mark.parametrize(
    "settings",
    [{"providers": [(CUDA, {"device_id": 0}), CPU]}, {"providers": [CUDA, CPU], "provider_options": [{"x": 1}, {}]}],
)
def test_a_provider_that_is_not_here_is_named_in_a_warning(settings: dict[str, Any]) -> None:
    with pytest.warns(UserWarning, match=f"^{CUDA}: not here; all nodes run on {CPU}$") as warned:
        touchstone.InferenceSession(PLAIN, **settings)
    assert warned[0].filename == __file__


def test_a_setting_that_is_not_there_is_an_error_with_the_nearest() -> None:
    error = refused(intra_op_threads=1)
    assert error.kind == "usage"
    assert error.message == "there is no setting 'intra_op_threads'; did you mean 'intra_op_num_threads'?"
    assert "with_passes" in error.help


def test_no_fallback_is_as_good_as_one() -> None:
    """Accepts ONNX Runtime's keyword; it has no effect, since there is one provider."""
    for wanted in (True, False):
        assert touchstone.InferenceSession(PLAIN, enable_fallback=wanted).get_providers() == [CPU]


def test_metadata_counts_as_memory() -> None:
    model = described()
    model.doc_string = "d" * (8 << 20)
    with pytest.raises(touchstone.Error) as caught:  # the file's message has one copy, the model another
        touchstone.InferenceSession(model.SerializeToString(), memory_limit=12 << 20)
    assert caught.value.rule == "limit/memory"
    session = touchstone.InferenceSession(model.SerializeToString(), memory_limit=24 << 20)
    assert len(session.get_modelmeta().description) == 8 << 20
