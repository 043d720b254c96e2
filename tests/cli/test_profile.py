"""`--profile`: the trace file loads, its rows match those of `--placement`, and its operation counts are right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.cli.test_golden import touchstone
from tests.codes.graphs import has_judge

pytestmark = pytest.mark.skipif(not has_judge(), reason="a build with the judge has the fast executor too")
SIZE, IN, OUT = 24, 8, 40
FLOP = {"conv": 2 * OUT * IN * 9 * SIZE * SIZE, "dense": 2 * OUT * 10}


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    arrays = {
        "w": np.ones((OUT, IN, 3, 3), np.float32),
        "b": np.ones((OUT, 10), np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], name="relu"),
        helper.make_node("Cast", ["r"], ["wide"], name="widened", to=TensorProto.DOUBLE),
        helper.make_node("GlobalAveragePool", ["wide"], ["p"], name="pool"),
        helper.make_node("Cast", ["p"], ["narrow"], name="narrowed", to=TensorProto.FLOAT),
        helper.make_node("Flatten", ["narrow"], ["f"], name="flat"),
        helper.make_node("MatMul", ["f", "b"], ["y"], name="dense"),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", IN, SIZE, SIZE])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 10])]
    held = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "net", inputs, outputs, held)
    folder = tmp_path_factory.mktemp("profile")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "net.onnx")
    return folder


def events(folder: Path, line: str) -> list[dict[str, Any]]:
    ran = touchstone(line, folder)
    assert ran.returncode == 0, ran.stderr
    trace = json.loads((folder / "trace.json").read_text(encoding="utf-8"))
    assert trace["otherData"]["schema"] == "touchstone.trace/1"
    return trace["traceEvents"]


def check(rows: list[dict[str, Any]], threads: int) -> None:
    """Checks the trace rows of one session."""
    steps = [row for row in rows if row.get("cat") == "step"]
    parts = [row for row in rows if row.get("cat") == "part"]
    assert [(row["ph"], row["tid"]) for row in steps] == [("X", 0)] * len(steps)
    for before, after in zip(steps, steps[1:], strict=False):  # steps do not overlap
        assert before["ts"] + before["dur"] <= after["ts"] + 1e-6
    held = [name for row in steps for name in row["args"]["nodes"]]
    assert len(held) == len(set(held))
    names = {name.split("'")[1] for name in held}
    assert {"conv", "dense", "pool"} <= names
    for row in steps:
        inside = {name.split("'")[1] for name in row["args"]["nodes"]}
        wanted = sum(FLOP.get(name, 0) for name in inside)
        if wanted:
            assert (
                wanted <= row["args"]["flop"] <= wanted + OUT * SIZE * SIZE
            )  # a fused operator after a convolution adds one operation per element
            assert any("float[" in shape for shape in row["args"]["reads"])
            assert row["args"]["kernel"] != "reference"
        if "pool" in inside:
            assert row["args"]["kernel"] == "reference"
        assert row["args"]["bytes"] > 0 or not row["args"]["reads"]
    (conv,) = [row for row in steps if "'conv' (Conv)" in row["args"]["nodes"]]
    assert f"float[1,{IN},{SIZE},{SIZE}]" in conv["args"]["reads"]
    assert conv["args"]["bytes"] == 4 * (IN * SIZE * SIZE + OUT * IN * 9 + OUT * SIZE * SIZE)
    assert {row["tid"] for row in parts} <= set(range(1, threads + 1))
    for part in parts:  # the work of each thread is inside a step
        assert any(
            step["ts"] <= part["ts"] and part["ts"] + part["dur"] <= step["ts"] + step["dur"] + 1e-6 for step in steps
        )
    if threads > 1:
        assert parts
    titles = {row["args"]["name"] for row in rows if row["ph"] == "M"}
    assert "steps" in titles


@pytest.mark.parametrize("threads", [1, 2])
def test_run(net: Path, threads: int) -> None:
    line = f"run net.onnx --random --runtime fast --threads {threads} --profile trace.json"
    rows = events(net, line)
    assert {row["pid"] for row in rows} == {1}
    check(rows, threads)


def test_bench(net: Path) -> None:
    rows = events(net, "bench net.onnx --threads 1,2 --seconds 0.001 --loads 1 --profile trace.json")
    assert {row["pid"] for row in rows} == {1, 2}
    for process in (1, 2):
        check([row for row in rows if row["pid"] == process], process)


def test_it_is_of_the_fast_executor(net: Path) -> None:
    for line in ("run net.onnx --random", "bench net.onnx --runtime reference"):
        ran = touchstone(f"{line} --profile trace.json", net)
        assert ran.returncode == 2
        assert "--profile is of the fast executor" in ran.stderr
