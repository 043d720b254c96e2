"""Shape inference through sequences and optionals, whose tensors may differ in shape."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
from onnx import TensorProto, helper

ROOT = Path(__file__).resolve().parents[2]
COMMAND = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build")) / "touchstone"


def shapes(text: str, folder: Path) -> dict[str, Any]:
    """The shapes of all values of the main graph of a model in the standard's text form."""
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 20]> {text}')
    del model.graph.value_info[:]
    for output in model.graph.output:
        output.ClearField("type")
    onnx.save(model, folder / "model.onnx")
    command = [COMMAND, "show", folder / "model.onnx", "--shapes", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["shapes"]
    return {row["name"]: row["shape"] for row in rows if row["path"] == ""}


def test_a_shape_goes_through_a_sequence(tmp_path: Path) -> None:
    found = shapes(
        """g (float[N, 3] x, int64 i) => (float y, float z) {
             s = SequenceConstruct(x, x)
             t = SequenceInsert(s, x)
             u = SequenceErase(t)
             y = SequenceAt(u, i)
             z = ConcatFromSequence<axis = 1, new_axis = 1>(u)
             n = SequenceLength(u)
           }""",
        tmp_path,
    )
    assert found["y"] == ["N", 3] and found["n"] == []
    assert found["z"][0] == "N" and found["z"][2] == 3 and "?" in found["z"][1]


def test_a_size_that_differs_is_another_one_each_time(tmp_path: Path) -> None:
    found = shapes(
        """g (float[2, 3] x, float[4, 3] w, int64 i) => (float y, float z) {
             s = SequenceConstruct(x, w)
             y = SequenceAt(s, i)
             z = SequenceAt(s, i)
           }""",
        tmp_path,
    )
    assert found["y"][1] == found["z"][1] == 3
    assert "?" in found["y"][0] and "?" in found["z"][0] and found["y"][0] != found["z"][0]


def test_parts_have_their_length(tmp_path: Path) -> None:
    found = shapes(
        """g (float[6, N] x, int64 i) => (float a, float b, float c) {
             two = Constant<value = int64 {2}>()
             s = SplitToSequence(x, two)
             a = SequenceAt(s, i)
             four = Constant<value = int64 {4}>()
             t = SplitToSequence(x, four)
             b = SequenceAt(t, i)
             u = SplitToSequence<axis = 1, keepdims = 0>(x)
             c = SequenceAt(u, i)
           }""",
        tmp_path,
    )
    assert found["a"] == [2, "N"] and found["c"] == [6]
    assert "?" in found["b"][0] and found["b"][1] == "N"


def test_a_shape_goes_through_an_optional_and_a_map(tmp_path: Path) -> None:
    found = shapes(
        """g (float[2, N] x, float[5, N] w, int64 i) => (float y, float z) {
             o = Optional(x)
             y = OptionalGetElement(o)
             b = OptionalHasElement(o)
             s = SequenceConstruct(x, w)
             m = SequenceMap<body = inside (float[A, B] e) => (float[B, A] f) { f = Transpose(e) }>(s)
             z = SequenceAt(m, i)
           }""",
        tmp_path,
    )
    assert found["y"] == [2, "N"] and found["b"] == []
    assert found["z"][0] == "N" and "?" in found["z"][1]


def test_another_type_is_refused_before_it_runs(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("SequenceConstruct", ["x"], ["s"]),
        helper.make_node("SequenceInsert", ["s", "i"], ["t"]),
        helper.make_node("SequenceLength", ["t"], ["n"]),
    ]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]),
        helper.make_tensor_value_info("i", TensorProto.INT64, [1]),
    ]
    outputs = [helper.make_tensor_value_info("n", TensorProto.INT64, [])]
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=8), tmp_path / "model.onnx"
    )
    done = subprocess.run(
        [COMMAND, "check", tmp_path / "model.onnx"], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 3 and "SequenceInsert-11/C3" in done.stderr, done.stderr


def test_a_size_that_values_decide_has_no_name(tmp_path: Path) -> None:
    found = shapes("g (float[N, 3] x) => (float y) { y = Unique(x) z = Unique<axis = 0>(x) }", tmp_path)
    assert len(found["y"]) == 1 and "?" in found["y"][0]
    assert "?" in found["z"][0] and found["z"][1] == 3
