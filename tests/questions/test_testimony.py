"""An explanation of a released suite's case rests on two independent witnesses, and the runtimes among them still
confirm it.

A note's `witnesses` are prose. Their statements about the evaluator and ONNX Runtime are checked here, case by case.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.targets import values
from tests.codes.graphs import has_judge, judgement
from tests.questions.cases import NOTES, Case, distinct, named_by
from tests.witnesses.asking import PASSES, PEER
from tools.probes.model import Answer
from tools.probes.runtimes import describe, evaluator, onnxruntime

SHARE = 0.01  # upper bound of the distinct cases that files with only one witness explain
BY_ID = {note.id: note for note in NOTES}
EXPLAINING = [note for note in NOTES if note.cases]
EXPANDED = "*_expanded"  # graphs of many nodes, on which the judge applies only the suite's rule
# The behavior of a witness on the cases of a note.
#
# - `departs`: the judge accepts its answer, and either refuses the suite's or the two differ by the suite's rule
# - `refuses`: it runs none of them
# - `meets`: its answer is the suite's
# - `misses`: it is not
SAID: dict[str, dict[str, str]] = {
    "onnx": {
        **dict.fromkeys(("E001", "E012", "E013", "E014", "E015", "E017", "E018", "E020", "E021", "E028"), "departs"),
        **dict.fromkeys(("E034", "E035", "E036", "E037", "E038", "Q011", "Q012"), "departs"),
        **dict.fromkeys(("E022", "E024"), "refuses"),
        **dict.fromkeys(("E004", "Q027", "Q036", "Q047", "Q051", "Q053", "Q072"), "meets"),
    },
    "onnxruntime": {
        **dict.fromkeys(("E001", "E012", "E013", "E014", "E015", "E017", "E018", "E020", "E021", "E028"), "departs"),
        **dict.fromkeys(("E034", "E037", "E038", "Q011"), "departs"),
        **dict.fromkeys(("E019", "E022", "E026"), "refuses"),
        **dict.fromkeys(("E003", "E030", "Q027", "Q053"), "misses"),
        **dict.fromkeys(("Q035", "Q047", "Q051", "Q072"), "meets"),
    },
}
# The cases to check of a note whose cases are of several kinds.
ONLY = {"E002": ["test_cast_BFLOAT16_to_FLOAT", "test_castlike_*"]}
SAID["onnxruntime"]["E002"] = "refuses"

ROWS = [(id_, runtime, says) for runtime, said in SAID.items() for id_, says in said.items()]
needs_suites = pytest.mark.skipif(not distinct(), reason="the suite of all releases is in no cache")


@pytest.mark.parametrize("note", EXPLAINING, ids=lambda note: note.id)
def test_what_explains_a_case_has_a_witness(note: Any) -> None:
    assert note.witnesses, f"{note.path} explains cases of suites, and names nobody who says so too"


@needs_suites
def test_one_witness_alone_explains_few_cases(capsys: pytest.CaptureFixture[str]) -> None:
    explained = {case for note in EXPLAINING for case in named_by(note)}
    enough = {case for note in EXPLAINING if len(note.witnesses) > 1 for case in named_by(note)}
    alone = explained - enough
    with capsys.disabled():
        print(
            f"\n{len(explained)} of {len(distinct())} distinct cases are explained, {len(alone)} by one witness alone"
        )
    assert len(explained) > 100
    assert len(alone) <= SHARE * len(distinct()), sorted(case.name for case in alone)


@pytest.mark.parametrize(("id_", "runtime", "says"), ROWS, ids=[f"{id_}-{runtime}" for id_, runtime, _ in ROWS])
def test_what_is_held_here_is_said_there(id_: str, runtime: str, says: str) -> None:
    assert runtime in BY_ID[id_].witnesses, f"{id_} does not name {runtime}, which {says}"


def cases_of(id_: str) -> list[Case]:
    chosen = ONLY.get(id_, ["*"])
    named = [case for case in named_by(BY_ID[id_]) if any(Path(case.name).match(pattern) for pattern in chosen)]
    return [case for case in named if says_of(id_) == {"meets"} or not Path(case.name).match(EXPANDED)]


def says_of(id_: str) -> set[str]:
    return {said[id_] for said in SAID.values() if id_ in said}


@pytest.fixture(scope="module")
def answers() -> Iterator[dict[tuple[str, str, Case], Answer]]:
    given: dict[tuple[str, str, Case], Answer] = {}
    for runtime, said in SAID.items():
        if runtime == "onnxruntime" and not PEER.exists():
            continue
        asked = [(id_, case) for id_ in said for case in cases_of(id_)]
        ask = evaluator if runtime == "onnx" else onnxruntime(PEER)
        told = ask([case.question() for _, case in asked])
        given |= {(runtime, *each): answer for each, answer in zip(asked, told, strict=True)}
    yield given


@needs_suites
@pytest.mark.skipif(not has_judge(), reason="this build has no judge")
@pytest.mark.parametrize(("id_", "runtime", "says"), ROWS, ids=[f"{id_}-{runtime}" for id_, runtime, _ in ROWS])
def test_a_runtime_is_the_witness_it_is_said_to_be(
    id_: str, runtime: str, says: str, answers: dict[tuple[str, str, Case], Answer], tmp_path: Path
) -> None:
    if runtime == "onnxruntime" and not PEER.exists():
        pytest.skip("ONNX Runtime is not installed")
    cases = cases_of(id_)
    assert cases
    for case in cases:
        answer = answers[runtime, id_, case]
        place = f"{case.release}/{case.name}: {describe(answer)}"
        if says == "refuses":
            assert answer.kind == "error", place
            continue
        assert answer.kind == "outputs", place
        like = all(alike(case, a, b) for a, b in zip(answer.arrays, case.arrays("output"), strict=True))
        if says in ("meets", "misses"):
            assert like == (says == "meets"), place
            continue
        # A profile is right too: ONNX Runtime's windows add decimals, as Q088 says.
        right = (*PASSES, "profile")
        assert verdict(case, answer.arrays, tmp_path / runtime / case.release / case.name) in right, place
        assert (
            not like or verdict(case, case.arrays("output"), tmp_path / "suite" / case.release / case.name) not in right
        ), place


def verdict(case: Case, outputs: list[Any], folder: Path) -> str:
    """The judge's verdict on these outputs."""
    model = case.model
    written = [values.write(each, info.type)[1] for each, info in zip(outputs, model.graph.output, strict=True)]
    return judgement(folder, model, case.files("input"), written)["verdict"]


def alike(case: Case, left: Any, right: Any) -> bool:
    """True if two outputs agree by the suite's rule."""
    if isinstance(left, list) or isinstance(right, list):
        return len(left) == len(right) and all(alike(case, a, b) for a, b in zip(left, right, strict=True))
    left, right = np.asarray(left), np.asarray(right)
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    return not case.misses(left, right).any()
