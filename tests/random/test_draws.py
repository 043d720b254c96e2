"""Random draws: their moments, a Kolmogorov-Smirnov test of their distribution, and reproducibility by seed."""

from __future__ import annotations

import math
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from tests.witnessed import in_force, saw

BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", Path(__file__).parents[2] / "build"))
N = 20_000
KS = 1.95 / math.sqrt(N)  # one in a thousand samples of the right distribution exceeds it
TYPES = {1: np.float32, 11: np.float64, 10: np.float16}


def drawn(
    folder: Path, nodes: list[onnx.NodeProto], feed: np.ndarray | None = None, opset: int = 22
) -> list[np.ndarray]:
    """The outputs of all nodes, which may read the feed as x."""
    folder.mkdir(parents=True, exist_ok=True)
    inputs = []
    arguments: list[str] = []
    if feed is not None:
        inputs = [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(feed.dtype), feed.shape)]
        (folder / "x.pb").write_bytes(numpy_helper.from_array(feed).SerializeToString())
        arguments = ["--input", f"x={folder / 'x.pb'}"]
    outputs = [onnx.ValueInfoProto(name=node.output[0]) for node in nodes]
    graph = helper.make_graph(nodes, "draws", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    onnx.save(model, folder / "model.onnx")
    command = [str(BUILD / "touchstone"), "run", str(folder / "model.onnx"), *arguments, "--output-dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return [numpy_helper.to_array(onnx.load_tensor(folder / f"output_{k}.pb")) for k in range(len(nodes))]


def node(op: str, output: str = "y", **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(
        op, ["x"] if op.endswith("Like") or op in ("Bernoulli", "Multinomial") else [], [output], **attributes
    )


def farthest(sample: np.ndarray, distribution: Callable[[float], float]) -> float:
    """The Kolmogorov-Smirnov statistic: the largest distance of the sample's distribution from `distribution`."""
    ordered = np.sort(sample.astype(np.float64).ravel())
    wanted = np.array([distribution(x) for x in ordered])
    steps = np.arange(len(ordered) + 1) / len(ordered)
    return float(max(np.max(steps[1:] - wanted), np.max(wanted - steps[:-1])))


def normal(mean: float, deviation: float) -> Callable[[float], float]:
    return lambda x: 0.5 * (1 + math.erf((x - mean) / (deviation * math.sqrt(2))))


def even(low: float, high: float) -> Callable[[float], float]:
    return lambda x: min(max((x - low) / (high - low), 0.0), 1.0)


def holds_moments(sample: np.ndarray, mean: float, variance: float, fourth: float) -> None:
    """Checks mean and variance within five standard errors; `fourth` is the fourth central moment."""
    values = sample.astype(np.float64)
    assert abs(values.mean() - mean) < 5 * math.sqrt(variance / N)
    assert abs(values.var() - variance) < 5 * math.sqrt((fourth - variance**2) / N)


@pytest.mark.parametrize("code", [1, 11])
@pytest.mark.parametrize("like", [False, True], ids=["RandomNormal", "RandomNormalLike"])
def test_normal(tmp_path: Path, code: int, like: bool) -> None:
    said = {"mean": 3.0, "scale": 0.5, "seed": 4.0, "dtype": code} | ({} if like else {"shape": [N]})
    feed = np.zeros(N, np.int64) if like else None
    (sample,) = drawn(tmp_path, [node("RandomNormalLike" if like else "RandomNormal", **said)], feed)
    assert sample.dtype == TYPES[code] and sample.shape == (N,)
    holds_moments(sample, 3.0, 0.25, 3 * 0.25**2)
    assert farthest(sample, normal(3.0, 0.5)) < KS
    assert farthest(sample, normal(3.0, 0.55)) > KS, "the test sees a deviation that is a tenth too large"
    saw("moments", in_force("RandomNormalLike" if like else "RandomNormal", 22))


@pytest.mark.parametrize("code", [1, 11])
@pytest.mark.parametrize("like", [False, True], ids=["RandomUniform", "RandomUniformLike"])
def test_even(tmp_path: Path, code: int, like: bool) -> None:
    said = {"low": -1.0, "high": 3.0, "seed": 9.0, "dtype": code} | ({} if like else {"shape": [N]})
    feed = np.zeros(N, np.float32) if like else None
    (sample,) = drawn(tmp_path, [node("RandomUniformLike" if like else "RandomUniform", **said)], feed)
    assert sample.dtype == TYPES[code] and sample.min() >= -1 and sample.max() <= 3
    holds_moments(sample, 1.0, 16 / 12, 256 / 80)
    assert farthest(sample, even(-1.0, 3.0)) < KS
    assert farthest(sample, even(-1.0, 3.2)) > KS, "the test sees a range that is a twentieth too wide"
    saw("moments", in_force("RandomUniformLike" if like else "RandomUniform", 22))


def test_narrow_numbers_are_rounded_draws(tmp_path: Path) -> None:
    (wide,) = drawn(tmp_path / "wide", [node("RandomNormal", shape=[N], seed=1.0, dtype=11)])
    (half,) = drawn(tmp_path / "half", [node("RandomNormal", shape=[N], seed=1.0, dtype=10)])
    assert half.dtype == np.float16 and (half == wide.astype(np.float16)).all()


def test_bernoulli(tmp_path: Path) -> None:
    (sample,) = drawn(tmp_path, [node("Bernoulli", seed=5.0, dtype=7)], np.full(N, 0.25, np.float32))
    assert sample.dtype == np.int64 and set(np.unique(sample)) == {0, 1}
    assert abs(float(sample.mean()) - 0.25) < 5 * math.sqrt(0.25 * 0.75 / N)
    pairs = float(np.mean((sample[1:] == 1) & (sample[:-1] == 1)))
    assert abs(pairs - 0.0625) < 5 * math.sqrt(0.0625 / N), "neighbours are drawn together"
    saw("moments", in_force("Bernoulli", 22))


def test_bernoulli_follows_each_probability(tmp_path: Path) -> None:
    chances = np.repeat([0.1, 0.9], N // 2)
    (sample,) = drawn(tmp_path, [node("Bernoulli", seed=5.0)], chances)
    for half, chance in zip(np.split(sample, 2), (0.1, 0.9), strict=True):
        assert abs(float(half.mean()) - chance) < 5 * math.sqrt(0.09 / (N // 2))


def test_multinomial(tmp_path: Path) -> None:
    weights = np.array([[1.0, 2.0, 5.0], [4.0, 0.0, 4.0]])
    with np.errstate(divide="ignore"):
        logs = (np.log(weights) + 100).astype(np.float64)  # unnormalized log-probabilities
    (sample,) = drawn(tmp_path, [node("Multinomial", seed=6.0, sample_size=N, dtype=7)], logs)
    assert sample.shape == (2, N) and sample.dtype == np.int64
    for row, weight in zip(sample, weights, strict=True):
        shares = weight / weight.sum()
        counts = np.bincount(row, minlength=3) / N
        assert (np.abs(counts - shares) <= 5 * np.sqrt(shares * (1 - shares) / N)).all()
    assert (sample[0] != sample[1]).any()
    saw("moments", in_force("Multinomial", 22))


@pytest.mark.parametrize("op", ["RandomNormal", "RandomUniform"])
def test_the_seed_decides(tmp_path: Path, op: str) -> None:
    seeds = {"a": 1.0, "b": 1.0, "c": 1.5}
    first, again, other = (drawn(tmp_path / name, [node(op, shape=[64], seed=seed)])[0] for name, seed in seeds.items())
    assert (first == again).all() and (first != other).all()


def test_nodes_without_a_seed_differ_and_repeat(tmp_path: Path) -> None:
    nodes = [node("RandomUniform", "a", shape=[64]), node("RandomUniform", "b", shape=[64])]
    first, again = drawn(tmp_path / "first", nodes), drawn(tmp_path / "again", nodes)
    assert (first[0] != first[1]).all()
    assert all((one == other).all() for one, other in zip(first, again, strict=True))
