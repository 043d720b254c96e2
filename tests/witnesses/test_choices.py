"""Seeded inputs for operators that select, count or drop: the evaluator and ONNX Runtime agree with the reference.

Inputs avoid the cases of spec/questions, on which the three differ and which have probes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from codegen.questions import Probe
from tests.witnessed import in_force, saw
from tools.probes.model import Answer, Question, same, shown
from tools.probes.runtimes import describe, evaluator, onnxruntime, reference

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build")) / "touchstone"
PEER = ROOT / ".venv-onnxruntime" / "bin" / "python"
RANDOM = np.random.default_rng(11)
WORDS = "monday tuesday Monday TUESDAY friday Friday a B".split()


def question(name: str, op: str, opset: int, feeds: list[np.ndarray], outputs: int, **attributes: Any) -> Question:
    names = [f"x{k}" for k in range(len(feeds))]
    results = [f"y{k}" for k in range(outputs)]
    node = helper.make_node(op, names, results, **attributes)
    inputs = [
        helper.make_tensor_value_info(each, helper.np_dtype_to_tensor_dtype(feed.dtype), feed.shape)
        for each, feed in zip(names, feeds, strict=True)
    ]
    types = {
        "Unique": [inputs[0].type.tensor_type.elem_type, 7, 7, 7],
        "NonMaxSuppression": [7],
        "TfIdfVectorizer": [1],
    }
    infos = [helper.make_tensor_value_info(each, types.get(op, [8])[k], None) for k, each in enumerate(results)]
    graph = helper.make_graph([node], "g", inputs, infos)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    data = {each: numpy_helper.from_array(feed).SerializeToString() for each, feed in zip(names, feeds, strict=True)}
    return Question(Probe(op, name, op, opset, {}, {}, "", 0), model, data, {})


def uniques() -> Iterator[Question]:
    for k in range(24):
        rank = int(RANDOM.integers(1, 4))
        x = RANDOM.integers(-2, 3, RANDOM.integers(1, 5, rank)).astype((np.float32, np.int64, np.int8)[k % 3])
        axis = {} if k % 2 else {"axis": int(RANDOM.integers(-rank, rank))}
        as_met = rank == 1 and not axis  # otherwise the evaluator treats slices as elements
        yield question(f"{k}", "Unique", 11, [x], 4, sorted=0 if as_met else 1, **axis)


def boxes() -> Iterator[Question]:
    for k in range(24):
        batches, classes, n = (int(i) for i in RANDOM.integers(1, [3, 4, 12]))
        corners = RANDOM.random((batches, n, 4)).astype(np.float32)
        scores = RANDOM.permutation(batches * classes * n).reshape(batches, classes, n).astype(np.float32)
        limits = [np.array([RANDOM.integers(1, n + 1)]), np.array([RANDOM.random() / 2], np.float32)]
        if k % 3:
            limits.append(np.array([scores.max() / 3], np.float32))
        yield question(f"{k}", "NonMaxSuppression", 11, [corners, scores, *limits], 1, center_point_box=k % 2)


def grams() -> Iterator[Question]:
    for k in range(24):
        single = RANDOM.permutation(5)[:3]
        pairs = np.array([divmod(int(i), 5) for i in RANDOM.permutation(25)[:4]]).ravel()
        pool = [int(i) for i in (*single, *pairs)]
        x = RANDOM.integers(0, 5, (2, 8) if k % 2 else 9)
        attributes: dict[str, Any] = {"pool_int64s": pool}
        if k % 3 == 0:
            x, attributes = x.astype(str).astype(object), {"pool_strings": [str(i) for i in pool]}
        least = int(RANDOM.integers(1, 3))
        attributes |= {"min_gram_length": least, "max_gram_length": int(RANDOM.integers(least, 3))}
        weights = [float(w) for w in RANDOM.integers(1, 64, 7) / 8]
        attributes |= {
            "mode": ("TF", "IDF", "TFIDF")[k % 3],
            "weights": weights,
            "max_skip_count": int(RANDOM.integers(0, 4)),
        }
        yield question(
            f"{k}", "TfIdfVectorizer", 9, [x], 1, ngram_counts=[0, 3], ngram_indexes=list(range(7)), **attributes
        )


def words() -> Iterator[Question]:
    for k in range(24):
        x = RANDOM.choice(WORDS, int(RANDOM.integers(1, 7))).astype(object)
        case = ("LOWER", "UPPER")[k % 2]
        sensitive = k // 2 % 2
        stops = [str(word) for word in RANDOM.choice(WORDS, int(RANDOM.integers(1, 3)))]
        yield question(f"{k}", "StringNormalizer", 10, [x.reshape(1, -1) if k % 3 == 0 else x], 1,
                       case_change_action=case, is_case_sensitive=sensitive, stopwords=stops)  # fmt: skip


QUESTIONS = [*uniques(), *boxes(), *grams(), *words()]


@pytest.fixture(scope="session")
def answers() -> dict[str, list[Answer]]:
    asked = {"reference": reference(BINARY), "onnx": evaluator}
    if PEER.exists():
        asked["onnxruntime"] = onnxruntime(PEER)
    return {runtime: ask(QUESTIONS) for runtime, ask in asked.items()}


@pytest.mark.parametrize("runtime", ["onnx", "onnxruntime"])
@pytest.mark.parametrize("k", range(len(QUESTIONS)), ids=lambda k: QUESTIONS[k].name)
def test_witness(k: int, runtime: str, answers: dict[str, list[Answer]]) -> None:
    if runtime not in answers:
        pytest.skip("ONNX Runtime is not installed: make setup does")
    ours, theirs = answers["reference"][k], answers[runtime][k]
    assert ours.kind == "outputs", describe(ours)
    assert same(ours, theirs), f"{shown(ours)}, but {runtime} gives {shown(theirs)} {describe(theirs)}"
    probe = QUESTIONS[k].probe
    saw({"onnx": "evaluator"}.get(runtime, runtime), in_force(probe.of, probe.opset))
