"""The reference and the standard's evaluator answer every probe as its file states."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from codegen.load import load_spec
from codegen.questions import load_notes
from tools.probes.model import Answer, Question, questions_of, same, same_array, shown
from tools.probes.runtimes import describe, evaluator, onnxruntime, reference

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


FAKE = """#!{python}
import json, os, sys
for job in json.load(sys.stdin):
    if job["folder"].endswith("/1"):
        os.kill(os.getpid(), 9)
    print(json.dumps({{"kind": "error", "outputs": {{}}, "why": "no"}}), flush=True)
"""


def test_a_question_that_ends_the_process_is_a_crash_and_the_rest_goes_on(tmp_path: Path) -> None:
    fake = tmp_path / "python"
    fake.write_text(FAKE.format(python=sys.executable), encoding="utf-8")
    fake.chmod(0o755)
    answers = onnxruntime(fake)(QUESTIONS[:3])
    assert [answer.kind for answer in answers] == ["error", "crash", "error"]
    assert answers[1].why == "signal 9"
