"""Every question and erratum parses, names existing operators and cases, and covers what it must."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest
import yaml

from codegen.entry import Also, Operator, SpecError, Text
from codegen.facts import load_prose
from codegen.load import load_spec
from codegen.questions import Note, load_notes, strangers, suites_named
from tests.spec.test_sentences import shared_runs

ROOT = Path(__file__).parents[2]
OPERATORS = load_spec(ROOT / "spec")
NOTES = load_notes(ROOT / "spec", OPERATORS)
PROSE = load_prose()
FRONT = "title: A question\noperators: [Max-13]\nstatus: ruled\n"
CASES = "cases: {onnx: [a]}\n"
EXPLAINS = "explains: {expectation: [pass/wrong-value, pass/mistrusted], any: [wrong-value/pass]}\n"
PROBE = """\
probes:
  one:
    of: Max-13
    case: {data_0: [[1.0]]}
    says: {reference: {max: [1.0]}, onnx: same, onnxruntime: error}
"""
BODY = "\n## What the standard says\n\nA.\n\n## Who does what\n\nB.\n\n## Ruling\n\nC.\n"


def id_of(note: Note) -> str:
    return note.id


def differences() -> dict[str, str]:
    return yaml.safe_load((ROOT / "tests/functions/differences.yaml").read_text(encoding="utf-8")) or {}


@cache
def suite(name: str) -> set[str] | None:
    """The names of a suite's cases, or None if it is not in the cache."""
    version = name.partition("@")[2] or pinned()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "touchstone" / "suites" / version
    return {file.parent.name for file in folder.rglob("model.onnx")} if folder.is_dir() else None


@cache
def releases() -> list[str]:
    """The releases with suites, oldest first; the last is the pinned one."""
    rows = yaml.safe_load((ROOT / "spec/releases.yaml").read_text(encoding="utf-8"))["releases"]
    return [row["version"] for row in rows if "wheel" in row]


def pinned() -> str:
    return releases()[-1]


def test_numbers_have_no_gaps() -> None:
    for letter in "EQ":
        found = [note.id for note in NOTES if note.id[0] == letter]
        assert found == [f"{letter}{k:03}" for k in range(1, len(found) + 1)]


@pytest.mark.parametrize("note", NOTES, ids=id_of)
def test_its_cases_are_in_their_suites(note: Note) -> None:
    for key, patterns in note.cases.items():
        for name in suites_named(key, releases(), pinned()):
            cases = suite(name)
            assert cases or name != f"onnx@{pinned()}", "the pinned suite is in no cache: make setup builds it"
            for pattern in patterns if cases else ():
                assert any(fnmatchcase(case, pattern) for case in cases), f"{name} has no case {pattern}"


def test_suites_are_named_one_by_one_or_from_one_to_another() -> None:
    some = ["1.6.0", "1.7.0", "1.8.1"]
    assert suites_named("onnx", some, "1.8.1") == ["onnx@1.8.1"]
    assert suites_named("onnx@1.6.0", some, "1.8.1") == ["onnx@1.6.0"]
    assert suites_named("onnx@1.6.0..1.8.1", some, "1.8.1") == ["onnx@1.6.0", "onnx@1.7.0", "onnx@1.8.1"]
    for wrong in ("onnx@1.8.1..1.6.0", "onnx@1.6.1", "onnx@1.6.0..1.9.0"):
        with pytest.raises(SpecError, match=r"the releases with suites are 1\.6\.0"):
            suites_named(wrong, some, "1.8.1")


@pytest.mark.parametrize("note", NOTES, ids=id_of)
def test_its_function_bodies_differ(note: Note) -> None:
    known = differences()
    for pattern in note.bodies:
        assert any(fnmatchcase(body, pattern) for body in known), f"no body of {pattern} differs"


@pytest.mark.parametrize("body", differences())
def test_a_body_that_differs_has_one_note(body: str) -> None:
    naming = [note.id for note in NOTES if any(fnmatchcase(body, pattern) for pattern in note.bodies)]
    assert len(naming) == 1, f"{body} is named by {naming}"


@pytest.mark.parametrize("note", NOTES, ids=id_of)
def test_its_sentences_are_ours_and_few(note: Note) -> None:
    of = {name.rsplit("-", 1)[0] for name in note.operators}
    texts = [text for (_, op), versions in PROSE.items() if op in of for text in versions]
    ours = "\n".join([note.body, *note.witnesses.values()])
    assert sorted({run for text in texts for run in shared_runs(ours, text)}) == []
    assert note.body.count("\n") <= 40, "a note is short"


@pytest.mark.parametrize("note", [note for note in NOTES if note.id[0] == "Q"], ids=id_of)
def test_a_question_is_asked(note: Note) -> None:
    assert note.probes, "a question has a probe that shows who does what"


def test_what_entries_leave_open_has_an_open_question() -> None:
    assert strangers(OPERATORS, NOTES) == []
    operator = copy.deepcopy(next(operator for operator in OPERATORS if operator.op == "Max"))
    version = operator.versions[0]
    note = Note("Q001", "A question", [version.name], "open", {}, [], "", "")
    version.open = {"Q001": Text("what_is_no_number", version.path, 7)}
    assert strangers([operator], [note]) == []
    found = [f"{version.path}:7: Q001 is no open question about {version.name}"]
    assert strangers([operator], [replace(note, status="ruled")]) == found
    assert strangers([operator], [replace(note, operators=["Min-13"])]) == found
    assert strangers([operator], []) == found
    version.open, version.profiles = {}, {"Q001": Also("Q001", "nobody", Text("let a = 1", version.path, 9))}
    assert strangers([operator], [replace(note, status="ruled")]) == []
    assert strangers([operator], []) == [f"{version.path}:9: Q001 is no question about {version.name}"]


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., list[Note]]:
    """Returns a function that reads one file of that name and text, next to the real entries' schema."""

    def go(text: str, name: str = "questions/Q001-a-question.md", operators: list[Operator] = OPERATORS) -> list[Note]:
        file = tmp_path / "spec" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return load_notes(tmp_path / "spec", operators)

    return go


def test_a_good_file_is_read(read: Callable[..., list[Note]]) -> None:
    (note,) = read(f"---\n{FRONT}cases: {{onnx: [test_max_*]}}\n{EXPLAINS}{PROBE}---\n{BODY}")
    assert (note.id, note.title, note.operators, note.status) == ("Q001", "A question", ["Max-13"], "ruled")
    assert note.cases == {"onnx": ["test_max_*"]}
    assert note.explains == {"any": ["wrong-value/pass"], "expectation": ["pass/wrong-value", "pass/mistrusted"]}
    (probe,) = note.probes
    assert (probe.of, probe.opset, probe.line) == ("Max-13", 13, 9)
    assert probe.says == {"reference": {"max": [1.0]}, "onnx": {"max": [1.0]}, "onnxruntime": "error"}


def test_an_operator_without_a_version_is_all_of_them(read: Callable[..., list[Note]]) -> None:
    (note,) = read(f"---\n{FRONT.replace('Max-13', 'Max')}---\n{BODY}")
    assert note.operators == ["Max-1", "Max-6", "Max-8", "Max-12", "Max-13"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("[Max-13]", "[Max-14]", "Q001-a-question.md:3: there is no operator version 'Max-14'"),
        ("[Max-13]", "[]", "'operators' names the versions"),
        ("ruled", "settled", ":4: 'status' is one of ruled, open"),
        ("title", "titel", ":2: 'titel' is none of"),
        ("of: Max-13", "of: Max-12", ":7: Max-12 is none of the file's operators"),
        ("onnx: same, ", "", "the probe one says what reference, onnx, onnxruntime answer"),
        ("{max: [1.0]}", "same", "the reference is what others are the same as"),
        ("probes:", "witnesses: {us: it is so}\nprobes:", ":5: 'us' is none of arithmetic, files, library"),
        ("probes:", "witnesses: {text: 1}\nprobes:", ":5: 'text' is a text"),
        ("onnxruntime: error", "onnxruntime: no", "onnxruntime answers {output: value} or"),
        ("## Ruling", "## The ruling", "there is no part '## Ruling'"),
        ("---\n", "", "begins with its front matter"),
        ("probes:", "cases: {suite: [a]}\nprobes:", ":5: 'suite': a suite is onnx, onnx@VERSION or onnx@FROM..TO"),
        ("probes:", "cases: {onnx: [a]}\nprobes:", "'cases' and 'explains' stand together"),
        ("probes:", "explains: {any: [wrong-value/pass]}\nprobes:", "'cases' and 'explains' stand together"),
        ("probes:", f"{CASES}explains: {{us: [wrong-value/pass]}}\nprobes:", ":6: 'us' is none of any, expectation"),
        ("probes:", f"{CASES}explains: {{any: [wrong-value]}}\nprobes:", ":6: 'any': an outcome is COMPAT/VERDICT"),
        ("probes:", f"{CASES}explains: {{any: [pass/pass]}}\nprobes:", ":6: 'any': an outcome is COMPAT/VERDICT"),
        ("probes:", f"{CASES}explains: {{any: [pass/within]}}\nprobes:", ":6: 'any': an outcome is COMPAT/VERDICT"),
        ("probes:", f"{CASES}explains: {{any: []}}\nprobes:", ":6: 'any': an outcome is COMPAT/VERDICT"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(read: Callable[..., list[Note]], old: str, new: str, says: str) -> None:
    text = f"---\n{FRONT}{PROBE}---\n{BODY}"
    assert old in text
    with pytest.raises(SpecError) as refused:
        read(text.replace(old, new))
    assert says in str(refused.value)


def test_two_files_of_one_number_are_refused(read: Callable[..., list[Note]]) -> None:
    read(f"---\n{FRONT}---\n{BODY}")
    with pytest.raises(SpecError, match="Q001 is spec/questions/Q001-a-question.md too"):
        read(f"---\n{FRONT}---\n{BODY}", "questions/Q001-another.md")


def test_an_erratum_says_what_is_wrong(read: Callable[..., list[Note]]) -> None:
    with pytest.raises(SpecError, match="an erratum names the cases or the function bodies"):
        read(f"---\n{FRONT}---\n\n## What is wrong\n\nA.\n\n## Proof\n\nB.\n", "errata/E001-wrong.md")
