"""Dropout in training: the share of dropped elements, the scale of the others, and reproducibility by seed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.witnessed import in_force, saw

BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", Path(__file__).parents[2] / "build"))
N = 20_000


def run(folder: Path, ratio: float, **attributes: int) -> tuple[np.ndarray, np.ndarray]:
    """The output and mask for N ones."""
    infos = [helper.make_tensor_value_info("data", TensorProto.FLOAT, [N])]
    outputs = [
        helper.make_tensor_value_info("output", TensorProto.FLOAT, [N]),
        helper.make_tensor_value_info("mask", TensorProto.BOOL, [N]),
    ]
    held = [
        helper.make_tensor("ratio", TensorProto.FLOAT, [], [ratio]),
        helper.make_tensor("training", TensorProto.BOOL, [], [True]),
    ]
    node = helper.make_node("Dropout", ["data", "ratio", "training"], ["output", "mask"], **attributes)
    graph = helper.make_graph([node], "dropout", infos, outputs, held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    np.save(folder / "data.npy", np.ones(N, np.float32))
    command = [BUILD / "touchstone", "run", folder / "model.onnx", "--input", f"data={folder / 'data.npy'}"]
    done = subprocess.run([*command, "--output-dir", folder], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return np.load(folder / "output_0.npy"), np.load(folder / "output_1.npy")


def test_share_and_scale(tmp_path: Path) -> None:
    output, mask = run(tmp_path, 0.25, seed=7)
    assert set(np.unique(output)) == {np.float32(0), np.float32(1 / 0.75)}
    assert ((output != 0) == mask).all()
    dropped = float(np.mean(~mask))
    assert abs(dropped - 0.25) < 5 * np.sqrt(0.25 * 0.75 / N)
    neighbours = float(np.mean(~mask[1:] & ~mask[:-1]))
    assert abs(neighbours - 0.0625) < 0.01, "neighbours fall together"
    saw("moments", in_force("Dropout", 13))


def test_the_seed_decides(tmp_path: Path) -> None:
    first, again, other = (run(tmp_path / name, 0.5, seed=seed)[1] for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    assert (first == again).all()
    assert (first != other).any()


def test_without_a_seed_each_run_is_the_same(tmp_path: Path) -> None:
    assert (run(tmp_path / "a", 0.5)[1] == run(tmp_path / "b", 0.5)[1]).all()
