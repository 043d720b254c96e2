"""A flattened model computes the same values as the tapped one, with names that give their origin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

from tools.real_models.flatten import FlattenError, Taps, flatten

BRANCHES = """
<ir_version: 8, opset_import: ["": 16]>
g (bool which, float[2] x) => (float[2] y, float[2] same) {
  one = Constant <value = float[1] {1}> ()
  y, same = If (which) <
    then_branch = a () => (float[2] sum, float[2] kept) {
      sum = Add (x, one)
      kept = If (which) <
        then_branch = b () => (float[2] sum2) { sum2 = Mul (sum, sum) },
        else_branch = c () => (float[2] sum3) { sum3 = Neg (sum) }
      >
    },
    else_branch = d () => (float[2] d1, float[2] d2) {
      d1 = Sub (x, one)
      d2 = Neg (d1)
    }
  >
}
"""


def tap(folder: Path, nodes: list[tuple[str, int, list[Any]]]) -> Taps:
    """Writes taps.json as the command does, as far as it is read here; each value is one output of a node."""
    rows = []
    for path, index, values in nodes:
        outputs = []
        for value in values:
            file = f"{len(list(folder.glob('*.pb')))}.pb"
            (folder / file).write_bytes(numpy_helper.from_array(np.asarray(value)).SerializeToString())
            outputs.append({"name": "", "file": file})
        rows.append({"path": path, "index": index, "outputs": outputs})
    (folder / "taps.json").write_text(json.dumps({"nodes": rows}))
    return Taps.read(folder)


V = np.zeros(2, np.float32)


def test_the_branches_taken_are_laid_into_the_main_graph(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(BRANCHES)
    inner = [("", 0, [V[:1]]), ("If_1/then_branch", 0, [V]), ("If_1/then_branch/If_1/then_branch", 0, [V])]
    flat = flatten(model, tap(tmp_path, [*inner, ("If_1/then_branch", 1, [V]), ("", 1, [V, V])]))
    onnx.shape_inference.infer_shapes(flat.model, check_type=True, strict_mode=True)
    assert [node.op_type for node in flat.model.graph.node] == ["Constant", "Add", "Mul"]
    assert flat.places == [place[:2] for place in inner]
    assert flat.outputs == {"y": "If_1/then_branch/sum", "same": "If_1/then_branch/If_1/then_branch/sum2"}
    assert flat.inlined == 2
    assert all(value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT for value in flat.model.graph.output)

    feeds = {"which": np.array(True), "x": np.array([2, 3], np.float32)}
    values = ReferenceEvaluator(flat.model).run(list(flat.outputs.values()), {"x": feeds["x"]} | feeds)
    for ours, theirs in zip(values, ReferenceEvaluator(model).run(None, feeds), strict=True):
        assert ours.tobytes() == theirs.tobytes()


def test_the_other_branch(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(BRANCHES)
    taps = tap(tmp_path, [("", 0, [V[:1]]), ("If_1/else_branch", 0, [V]), ("If_1/else_branch", 1, [V])])
    assert [node.op_type for node in flatten(model, taps).model.graph.node] == ["Constant", "Sub", "Neg"]


def test_names_of_two_bodies_do_not_meet(tmp_path: Path) -> None:
    model = onnx.parser.parse_model("""
    <ir_version: 8, opset_import: ["": 16]>
    g (bool which, float x) => (float y) {
      p = If (which) <then_branch = a () => (float t) { t = Neg (x) }, else_branch = b () => (float u) { u = Abs (x) }>
      q = If (which) <then_branch = c () => (float t) { t = Exp (x) }, else_branch = d () => (float u) { u = Abs (x) }>
      y = Add (p, q)
    }
    """)
    zero = np.zeros((), np.float32)
    taps = tap(tmp_path, [("If_0/then_branch", 0, [zero]), ("If_1/then_branch", 0, [zero]), ("", 2, [zero])])
    flat = flatten(model, taps)
    assert list(flat.model.graph.node[2].input) == ["If_0/then_branch/t", "If_1/then_branch/t"]


def test_a_loop_is_refused_by_its_place(tmp_path: Path) -> None:
    model = onnx.parser.parse_model("""
    <ir_version: 8, opset_import: ["": 16]>
    g (int64 n, bool go, float x) => (float y) {
      y = Loop (n, go, x) < body = b (int64 i, bool c, float v) => (bool d, float w) { d = Identity (c) w = Neg (v) } >
    }
    """)
    with pytest.raises(FlattenError, match="^Loop_0: a body that runs more than once"):
        flatten(model, tap(tmp_path, [("Loop_0/body#0", 0, [V]), ("Loop_0/body#0", 1, [V])]))


def test_taps_that_do_not_say_which_branch_ran_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FlattenError, match="^If_1: the taps do not say which of .* ran"):
        flatten(onnx.parser.parse_model(BRANCHES), tap(tmp_path, [("", 0, [V[:1]])]))
