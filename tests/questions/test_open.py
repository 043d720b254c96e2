"""The judge refuses no answer to an open question: it judges the answers of other runtimes that the question files
record.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from onnx import numpy_helper

from codegen.load import load_spec
from codegen.questions import load_notes
from tests.codes.graphs import has_judge
from tools.probes.model import Question, questions_of, same

pytestmark = pytest.mark.skipif(not has_judge(), reason="this build has no judge")

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build")) / "touchstone"
OPERATORS = load_spec(ROOT / "spec")
NOTES = {note.id: note for note in load_notes(ROOT / "spec", OPERATORS)}
# Answers that a file itself declares wrong, although the rest of its question is open.
SETTLED = {
    "Q022/not_finite": "infinities saturate: finding 022",
    "Q022/scale_of_zero": "1 / 0 is infinite and saturates: finding 022",
    "Q048/everything_dropped": "a ratio of 1 is not allowed",
    "Q081/certain": "what is certain is no draw: the function's body has it the wrong way round, E033",
    "Q081/no_class": "no class has that number",
}


def others(question: Question) -> list[str]:
    """The runtimes whose outputs differ from the reference's."""
    said = question.expected
    return [
        runtime
        for runtime in ("onnx", "onnxruntime")
        if said[runtime].kind == "outputs" and not same(said[runtime], said["reference"])
    ]


OPEN = [note for note in NOTES.values() if note.id[0] == "Q" and note.status == "open"]
ASKED = [
    (question, runtime) for question in questions_of(OPEN, OPERATORS, ROOT / "spec") for runtime in others(question)
]


def judged(question: Question, runtime: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "model.onnx").write_bytes(question.model.SerializeToString())
    for position, value in enumerate(question.feeds.values()):
        (folder / f"input_{position}.pb").write_bytes(value)
    for position, array in enumerate(question.expected[runtime].arrays):
        (folder / f"output_{position}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
    command = [BINARY, "judge", folder / "model.onnx", "--test-data", folder]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize(("question", "runtime"), ASKED, ids=[f"{q.name}-{runtime}" for q, runtime in ASKED])
def test_an_answer_to_an_open_question_is_not_refused(question: Question, runtime: str, tmp_path: Path) -> None:
    done = judged(question, runtime, tmp_path)
    if question.name in SETTLED:
        assert done.returncode == 1, f"{question.name} is settled: {SETTLED[question.name]}"
        return
    if done.returncode == 4:  # any value is right: nothing was judged
        assert "  open  " in done.stdout, done.stdout
        return
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"as {question.probe.question} leaves it" in done.stdout or "  open  " in done.stdout


def test_there_is_an_answer_of_each_kind() -> None:
    names = {question.name for question, _ in ASKED}
    assert set(SETTLED) < names
    assert {name[:4] for name in names - set(SETTLED)} >= {"Q006", "Q008", "Q011", "Q026"}
