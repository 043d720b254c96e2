"""Tests `touchstone compare` as a command: faults injected into a model of a hundred nodes are found at the right
node."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parents[2]
COMMAND = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build")) / "touchstone"
NODES = 100
MIDDLE = 51


def touchstone(*words: object) -> subprocess.CompletedProcess[str]:
    command = [str(COMMAND.resolve()), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT, check=False)


class Maker:
    """Builder of a chain of nodes n0, n1 ... with seeded weights."""

    def __init__(self, seed: int):
        self.draw = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[TensorProto] = []

    def weight(self, *shape: int, scale: float = 1.0) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.float32(scale * self.draw.standard_normal(shape)), name))
        return name

    def add(self, op: str, *more: str, **attributes: object) -> None:
        k = len(self.nodes)
        inputs = [f"v{k - 1}" if k else "x", *more]
        self.nodes.append(helper.make_node(op, inputs, [f"v{k}"], name=f"n{k}", **attributes))

    def images(self) -> Iterator[None]:
        """Adds nodes on images of shape [1,4,6,6], endlessly."""
        while True:
            yield self.add("Conv", self.weight(4, 4, 3, 3, scale=1 / 6), self.weight(4), pads=[1, 1, 1, 1])
            yield self.add("Relu")
            yield self.add("Add", self.weight(1, 4, 1, 1))
            yield self.add("InstanceNormalization", self.weight(4), self.weight(4))
            yield self.add("LeakyRelu", alpha=0.1)

    def rows(self) -> Iterator[None]:
        """Adds nodes on matrices of shape [4,36], endlessly. Each round adds its own input, so that a fault reaches the
        output."""
        while True:
            start = f"v{len(self.nodes) - 1}"
            yield self.add("MatMul", self.weight(36, 36, scale=1 / 6))
            yield self.add("Add", self.weight(36))
            yield self.add("LayerNormalization", self.weight(36), self.weight(36))
            yield self.add("Tanh")
            yield self.add("Mul", self.weight(36, scale=2.0))
            yield self.add("Gemm", self.weight(36, 36, scale=1 / 6), self.weight(36), transB=1)
            yield self.add("Sigmoid")
            yield self.add("Sub", self.weight(36))
            yield self.add("Softmax", axis=-1)
            yield self.add("Transpose", perm=[1, 0])
            yield self.add("Transpose", perm=[1, 0])
            yield self.add("Add", start)


def write_model(folder: Path, count: int = NODES) -> Path:
    maker = Maker(seed=5)
    images, rows = maker.images(), maker.rows()
    while len(maker.nodes) < min(count // 3, count - 1):
        next(images)
    maker.weights.append(numpy_helper.from_array(np.int64([4, 36]), "flat"))
    maker.add("Reshape", "flat")
    while len(maker.nodes) < count:
        next(rows)
    last = f"v{count - 1}"
    graph = helper.make_graph(
        maker.nodes,
        "hundred",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 6, 6])],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, [4, 36])],
        maker.weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(model)
    file = folder / "hundred.onnx"
    onnx.save(model, file)
    return file


@pytest.fixture
def hundred(tmp_path: Path) -> Path:
    return write_model(tmp_path)


def faulty(when: str, node: int = MIDDLE, by: float = 1e-3) -> str:
    return f"python:conformance.compare.bad_targets:Faulty:node=n{node}:when={when}:by={by}"


def compare(model: Path, left: str, right: str, *words: object) -> tuple[int, dict]:
    done = touchstone("compare", model, "--left", left, "--right", right, "--random", "--seed", 3, "--json", *words)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_a_fault_in_the_middle_is_found_at_its_node(hundred: Path) -> None:
    code, found = compare(hundred, "reference", faulty("always"))
    assert code == 1
    assert found["schema"] == "touchstone.compare/1"
    assert found["guilty"] == {"side": "right", "index": MIDDLE, "node": f"n{MIDDLE}", "op": "Gemm"}
    assert found["left"]["blame"]["guilty"] is None
    verdicts = [node["verdict"] for node in found["right"]["blame"]["nodes"]]
    assert len(verdicts) == NODES
    assert [k for k, verdict in enumerate(verdicts) if verdict == "wrong-value"] == [MIDDLE]
    (distance,) = found["distances"]
    assert distance["output"] == "v99" and distance["different"] > 0 and 0 < distance["relative"] < 0.1


@pytest.mark.parametrize("node", [0, 1, 33, 57, 99])
def test_so_is_one_elsewhere_and_on_the_left(hundred: Path, node: int) -> None:
    code, found = compare(hundred, faulty("always", node), "reference", "--taps", "all")
    assert code == 1
    assert (found["guilty"]["side"], found["guilty"]["node"]) == ("left", f"n{node}")


def test_the_text_names_the_node_its_worst_element_and_how_to_see_it_again(hundred: Path, tmp_path: Path) -> None:
    words = ("compare", hundred, "--left", "reference", "--right", faulty("always"), "--random", "--seed", 3)
    done = touchstone(*words)
    assert done.returncode == 1
    assert f"right guilty: Gemm-13, node 'n{MIDDLE}' (Gemm), output 'v{MIDDLE}', main graph" in done.stdout
    assert f"--random --seed 3 --taps '#{MIDDLE}' --save DIR" in done.stdout
    (worst,) = (line for line in done.stdout.splitlines() if line.startswith("  wrong-value  "))
    assert worst.count("(0x") == 2 and ", utilisation " in worst
    assert float(worst.rsplit(" ", 1)[1]) > 1

    out = tmp_path / "out put"
    done = touchstone(*words, "--taps", f"n{MIDDLE}", "--save", out)
    assert done.returncode == 1
    at = done.stdout.index("touchstone judge")
    judge, conform = done.stdout[at:].splitlines()[:2]
    again = touchstone(*shlex.split(judge)[1:])
    assert again.returncode == 1 and "wrong-value" in again.stdout, again.stderr
    again = touchstone(*shlex.split(conform)[1:], "--json")
    assert again.returncode == 1
    (case,) = json.loads(again.stdout)["runs"][0]["cases"]
    assert (case["verdict"], case["op"]) == ("wrong-value", "Gemm")
    again = touchstone("conform", "--target", "reference", "--suite", out, "--json")
    (case,) = json.loads(again.stdout)["runs"][0]["cases"]
    assert (case["compat"], case["verdict"]) == ("pass", "within")


def test_faithful_targets_have_no_guilty_node(hundred: Path) -> None:
    code, found = compare(hundred, "reference", "onnx-reference")
    assert code == 0
    assert found["guilty"] is None
    for side in ("left", "right"):
        blame = found[side]["blame"]
        assert set(blame["verdicts"]) <= {"exact", "within"}, blame["verdicts"]
        assert blame["judged"] == blame["elements"]
        assert all(row["different"] == 0 for row in found[side]["moved"])
        assert found[side]["vanished"] is None
    assert found["distances"] == found["tapped_distances"]


def test_a_fault_that_taps_hide_is_found_by_bisecting_them(hundred: Path) -> None:
    """The target is wrong only if the value before the node is hidden, as if it fused the two."""
    code, found = compare(hundred, "reference", faulty("hidden"))
    assert found["guilty"] is None
    assert found["left"]["vanished"] is None
    gone = found["right"]["vanished"]
    assert gone["hidden"] == [f"v{MIDDLE - 1}"]
    assert [node["node"] for node in gone["nodes"]] == [f"n{MIDDLE - 1}", f"n{MIDDLE}"]
    assert gone["smallest"] and gone["runs"] < 20
    assert gone["verdict"] == "wrong-value"
    assert code == 1


def test_what_taps_move_by_faithful_rounding_is_no_fault(tmp_path: Path) -> None:
    """Models a runtime that fuses two nodes and rounds differently."""
    model = write_model(tmp_path, count=12)
    code, found = compare(model, "onnx-reference", faulty("hidden", 10, by=2e-7))
    gone = found["right"]["vanished"]
    assert [node["node"] for node in gone["nodes"]] == ["n9", "n10"]
    assert gone["verdict"] == "within"
    assert code == 0


def test_a_fault_that_any_tap_hides_leaves_the_whole(tmp_path: Path) -> None:
    model = write_model(tmp_path, count=12)
    words = ("compare", model, "--left", "reference", "--right", faulty("single", 6, by=0.5), "--random")
    done = touchstone(*words, "--save", tmp_path / "out")
    assert done.returncode == 1
    assert "right: taps move its outputs farther than the sides are apart with taps" in done.stdout
    assert "nothing is tapped between these 12 nodes" in done.stdout
    assert "together wrong-value" in done.stdout
    replay = done.stdout[done.stdout.index("touchstone compare") :].splitlines()[0]
    again = touchstone(*shlex.split(replay)[1:], "--json")
    assert again.returncode == 1, again.stderr
    assert len(json.loads(again.stdout)["left"]["vanished"]["nodes"]) == 12


def test_a_whole_that_is_too_large_to_be_judged_is_said_to_be_open(hundred: Path) -> None:
    code, found = compare(hundred, "reference", faulty("single", 2))
    gone = found["right"]["vanished"]
    assert len(gone["nodes"]) == NODES
    assert gone["runs"] == 100 and not gone["smallest"]
    assert gone["verdict"] == "open" and gone["detail"]
    assert code == 4


def test_without_taps_only_what_shows_is_judged(hundred: Path) -> None:
    code, found = compare(hundred, "reference", faulty("always"), "--taps", "none")
    assert code == 0
    assert found["right"]["blame"]["verdicts"] == {"not-judged": NODES}
    assert found["tapped_distances"] == []
    assert found["distances"][0]["different"] > 0
    code, found = compare(hundred, "reference", faulty("always"), "--taps", f"n{MIDDLE - 1},v{MIDDLE},#99")
    assert code == 1
    assert found["guilty"]["node"] == f"n{MIDDLE}"
    assert found["right"]["blame"]["verdicts"]["not-judged"] == NODES - 3


def test_a_side_that_does_not_run_is_said(hundred: Path) -> None:
    code, found = compare(hundred, "reference", "python:conformance.targets.bad_target:BadTarget")
    assert code == 5
    assert found["right"]["plain"]["verdict"] == "crash" and not found["right"]["plain"]["ran"]
    assert found["left"]["blame"]["verdicts"].keys() <= {"exact", "within"}
    assert found["distances"] == []
