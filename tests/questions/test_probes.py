"""The reference and the standard's evaluator answer every probe as its file says."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from codegen.load import load_spec
from codegen.questions import load_notes
from tools.probes.model import Answer, Question, questions_of, same, same_array, shown
from tools.probes.runtimes import describe, evaluator, reference

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build")) / "touchstone"
OPERATORS = load_spec(ROOT / "spec")
QUESTIONS = questions_of(load_notes(ROOT / "spec", OPERATORS), OPERATORS, ROOT / "spec")


@pytest.fixture(scope="session")
def answers() -> dict[str, dict[str, Answer]]:
    return {
        runtime: {question.name: answer for question, answer in zip(QUESTIONS, ask(QUESTIONS), strict=True)}
        for runtime, ask in (("reference", reference(BINARY)), ("onnx", evaluator))
    }


@pytest.mark.parametrize("runtime", ["reference", "onnx"])
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_answer(question: Question, runtime: str, answers: dict[str, dict[str, Answer]]) -> None:
    given, said = answers[runtime][question.name], question.expected[runtime]
    assert same(given, said), f"answers {shown(given)} {describe(given)}, but the file says {shown(said)}"


def test_equal_means_bit_for_bit() -> None:
    def one(*values: float) -> np.ndarray:
        return np.array(values, np.float32)

    assert same_array(one(1, np.nan), one(1, -np.nan))
    assert not same_array(one(0.0), one(-0.0))
    assert not same_array(one(1, np.nan), one(np.nan, 1))
    assert not same_array(one(1), one(1).astype(np.float64))
    assert not same_array(one(1), one(1).reshape(1, 1))
    assert not same(Answer("outputs", [one(1)]), Answer("error"))
    assert not same(Answer("error"), Answer("unsupported"))
