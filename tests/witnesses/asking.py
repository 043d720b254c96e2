"""One node on seeded inputs: what the reference makes of it, and what witnesses do that know nothing of our entries."""

from __future__ import annotations

import os
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
PEER = ROOT / ".venv-onnxruntime" / "bin" / "python"
Arrays = dict[str, np.ndarray]
RUN_PEER = """
import sys, numpy, onnxruntime
folder, names = sys.argv[1], sys.argv[2:]
options = onnxruntime.SessionOptions()
options.log_severity_level = 4
session = onnxruntime.InferenceSession(folder + "/model.onnx", options, providers=["CPUExecutionProvider"])
for k, each in enumerate(session.run(None, {name: numpy.load(folder + "/" + name + ".npy") for name in names})):
    numpy.save(folder + "/peer_" + str(k) + ".npy", each)
"""


class Asked:
    """A model of one node with its feeds. `inputs` are in the node's order; None is left out."""

    def __init__(self, op: str, opset: int, inputs: dict[str, np.ndarray | None], outputs: int = 1, **attributes: Any):
        self.feeds = {name: value for name, value in inputs.items() if value is not None}
        ports = [name if value is not None else "" for name, value in inputs.items()]
        while not ports[-1]:
            ports.pop()
        kind = helper.np_dtype_to_tensor_dtype(next(iter(self.feeds.values())).dtype)
        kind = attributes.get("output_datatype", kind)
        made = [f"out_{k}" for k in range(outputs)]
        graph = helper.make_graph(
            [helper.make_node(op, ports, made, **attributes)],
            "asked",
            [
                helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
                for n, v in self.feeds.items()
            ],
            [helper.make_tensor_value_info(name, kind, None) for name in made],
        )
        imports = [helper.make_opsetid("", opset)]
        self.model = helper.make_model(graph, opset_imports=imports, ir_version=13 if opset > 21 else 8)
        self.count = outputs

    def ours(self) -> list[np.ndarray]:
        with self.on_disk() as folder:
            feeds = [word for name in self.feeds for word in ("--input", f"{name}={folder}/{name}.npy")]
            command = [BUILD / "touchstone", "run", f"{folder}/model.onnx", *feeds, "--output-dir", folder]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
            assert done.returncode == 0, done.stderr
            return [np.load(f"{folder}/output_{k}.npy") for k in range(self.count)]

    def evaluator(self) -> list[np.ndarray]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [np.asarray(each) for each in ReferenceEvaluator(self.model).run(None, self.feeds)]

    def onnxruntime(self) -> list[np.ndarray]:
        if not PEER.exists():
            pytest.skip("ONNX Runtime is not installed")
        with self.on_disk() as folder:
            command = [PEER, "-c", RUN_PEER, folder, *self.feeds]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
            assert done.returncode == 0, done.stderr
            return [np.load(f"{folder}/peer_{k}.npy") for k in range(self.count)]

    def on_disk(self) -> Folder:
        return Folder(self)


class Folder:
    """The model and its feeds as files, while they are needed."""

    def __init__(self, asked: Asked):
        self.asked, self.held = asked, tempfile.TemporaryDirectory()

    def __enter__(self) -> str:
        folder = self.held.__enter__()
        onnx.save(self.asked.model, f"{folder}/model.onnx")
        for name, value in self.asked.feeds.items():
            np.save(f"{folder}/{name}.npy", value)
        return folder

    def __exit__(self, *raised: object) -> None:
        self.held.cleanup()


def agree(ours: list[np.ndarray], theirs: list[np.ndarray], units: float = 64) -> None:
    """Within so many units of roundoff of the largest element of each output."""
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.shape == other.shape
        kind = np.finfo(mine.dtype) if mine.dtype.kind == "f" else np.finfo(np.float32)
        scale = float(np.max(np.abs(other.astype(np.float64)), initial=0))
        far = np.max(np.abs(mine.astype(np.float64) - other.astype(np.float64)), initial=0)
        assert far <= units * kind.eps * scale, f"{far} apart, where {scale} is the largest"


def seeded(*shape: int, seed: int, dtype: type = np.float32, low: float = -1, high: float = 1) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, shape).astype(dtype)


def pairs(*lists: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Each item of each list, beside items of the others that wander through them."""
    for k in range(max(map(len, lists)) * 2):
        yield tuple(each[(k * (1 + where)) % len(each)] for where, each in enumerate(lists))
