"""Runs one node on seeded inputs, on the reference and on witnesses that are independent of our entries."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from codegen.questions import Probe
from tests.codes.graphs import BUILD, has_judge, judgement
from tests.witnessed import in_force, saw
from tools.probes import runtimes
from tools.probes.model import Question

PEER = Path(__file__).parents[2] / ".venv-onnxruntime" / "bin" / "python"
Arrays = list[np.ndarray]
PASSES = ("exact", "within", "in-set", "mistrusted")  # mistrusted: most elements of mel bands are zero


class Asked:
    """A model of one node with its feeds. `inputs` are in the node's order; None omits an input."""

    def __init__(self, op: str, opset: int, inputs: dict[str, np.ndarray | None], outputs: int = 1, **attributes: Any):
        feeds = {name: value for name, value in inputs.items() if value is not None}
        ports = [name if value is not None else "" for name, value in inputs.items()]
        while not ports[-1]:
            ports.pop()
        kind = helper.np_dtype_to_tensor_dtype(next(iter(feeds.values())).dtype)
        kind = attributes.get("output_datatype", kind)
        made = [f"out_{k}" for k in range(outputs)]
        graph = helper.make_graph(
            [helper.make_node(op, ports, made, **attributes)],
            "asked",
            [
                helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
                for n, v in feeds.items()
            ],
            [helper.make_tensor_value_info(name, kind, None) for name in made],
        )
        imports = [helper.make_opsetid("", opset)]
        model = helper.make_model(graph, opset_imports=imports, ir_version=13 if opset > 21 else 8)
        data = {name: numpy_helper.from_array(value).SerializeToString() for name, value in feeds.items()}
        self.version, self.witnesses = in_force(op, opset), set[str]()
        self.question = Question(Probe(op, op, op, opset, {}, {}, "", 0), model, data, {})

    def ours(self) -> Arrays:
        return self._answer(runtimes.reference(BUILD / "touchstone"))

    def evaluator(self) -> Arrays:
        self.witnesses.add("evaluator")
        return self._answer(runtimes.evaluator)

    def onnxruntime(self) -> Arrays:
        if not PEER.exists():
            pytest.skip("ONNX Runtime is not installed")
        self.witnesses.add("onnxruntime")
        return self._answer(runtimes.onnxruntime(PEER))

    def _answer(self, ask: runtimes.Ask) -> Arrays:
        (answer,) = ask([self.question])
        assert answer.kind == "outputs", f"{answer.kind}: {answer.why}"
        return [np.asarray(each) for each in answer.arrays]

    def verdict(self, answer: Arrays) -> str:
        """The judge's verdict on these outputs, with the position of a refusal."""
        values = [numpy_helper.from_array(each).SerializeToString() for each in answer]
        with tempfile.TemporaryDirectory() as name:
            said = judgement(Path(name), self.question.model, self.question.feeds.values(), values)
        where = [(each["verdict"], each["where"], each["actual"], each["expected"]) for each in said["outputs"]]
        return said["verdict"] if said["verdict"] in PASSES else f"{said['verdict']} {where}"


def agree(asked: Asked, *witnesses: Arrays) -> None:
    """Checks that the reference's and all witnesses' outputs have equal shapes and are within the bounds."""
    ours = asked.ours()
    for theirs in witnesses:
        assert [(each.shape, each.dtype) for each in ours] == [(each.shape, each.dtype) for each in theirs]
    if has_judge():
        for answer in (ours, *witnesses):
            verdict = asked.verdict(answer)
            assert verdict in PASSES, verdict
        for kind in asked.witnesses or {"computed"}:
            saw(kind, asked.version)


def departs(asked: Asked, witness: Arrays) -> None:
    """Checks that the witness departs as a question of ours states, and that the judge refuses it."""
    assert [each.shape for each in asked.ours()] == [each.shape for each in witness]
    if has_judge():
        verdict = asked.verdict(witness)
        assert verdict.startswith("wrong-value"), verdict


def seeded(*shape: int, seed: int, dtype: type = np.float32, low: float = -1, high: float = 1) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, shape).astype(dtype)


def pairs(*lists: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Tuples of one item from each list; each list is traversed at another stride, so that combinations vary."""
    for k in range(max(map(len, lists)) * 2):
        yield tuple(each[(k * (1 + where)) % len(each)] for where, each in enumerate(lists))
