"""Reads spec/questions and spec/errata: rulings where the standard is silent, and errors of a suite or a function body.

spec/questions/README.md describes the files. This module reads the front matter: the operators and suite cases that a
file concerns, and the probes that record each runtime's answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codegen.entry import Operator, SpecError
from codegen.lines import Map, parse

RUNTIMES = ("reference", "onnx", "onnxruntime")
REFUSALS = ("error", "unsupported", "crash")
SAME = "same"  # the reference's answer
STATUS = ("ruled", "open")
HEADINGS = {
    "Q": ("What the standard says", "Who does what", "Ruling"),
    "E": ("What is wrong", "Proof"),
}
WITNESSES = {  # independent sources: none is derived from another or from an entry
    "text": "the standard's words, by operator version and part",
    "files": "what the case's own files hold",
    "arithmetic": "mathematics on the case's data, which needs no operator's definition",
    "onnx": "the standard's evaluator, checker or converter, or its suite of another release: one project, one witness",
    "onnxruntime": "what ONNX Runtime does",
    "library": "what numpy or torch does",
}
_FOLDERS = {"Q": "questions", "E": "errata"}
_FILE = re.compile(r"([QE])(\d{3})-[a-z0-9-]+\.md\Z")
_KEYS = {"title", "operators", "status", "cases", "explains", "bodies", "witnesses", "probes"}
ANY = "any"
TARGETS = (ANY, "expectation", "reference", "fast", "onnx-reference", "onnxruntime")  # in the order of the table
_COMPAT = "pass|wrong-(value|shape|type)|rejected-valid|accepted-invalid|unsupported|error|crash|timeout"
_VERDICT = (
    "pass|open|mistrusted|harness|wrong-(value|shape|type)|rejected-valid|accepted-invalid|nondeterministic|unwritten"
    "|unsupported|crash|timeout|out-of-memory"
)
OUTCOME = re.compile(rf"({_COMPAT})/({_VERDICT})\Z")
OUTCOME_FORM = "an outcome is COMPAT/VERDICT, as wrong-value/pass, and no pass/pass"
_PROBE_KEYS = {"of", "opset", "case", "says"}


@dataclass
class Probe:
    """Single-node case without a right answer: `says` holds the answer of each runtime."""

    question: str
    name: str
    of: str  # Max-13
    opset: int
    case: dict[str, Any]
    says: dict[str, Any]  # runtime -> {output: value} or one of REFUSALS
    path: str
    line: int


@dataclass
class Note:
    """One file: a question or an erratum."""

    id: str
    title: str
    operators: list[str]  # Split-1
    status: str
    cases: dict[str, list[str]]  # suite, or suites of several releases -> names or patterns of names
    bodies: list[str]  # patterns of the names in tests/functions/differences.yaml
    path: str
    body: str
    witnesses: dict[str, str] = field(default_factory=dict)  # one of WITNESSES -> its statement
    explains: dict[str, list[str]] = field(default_factory=dict)  # one of TARGETS -> the outcomes of its cases
    probes: list[Probe] = field(default_factory=list)


def load_notes(spec: Path | str, operators: list[Operator]) -> list[Note]:
    """Returns errata, then questions, each by number."""
    spec = Path(spec).resolve()
    notes: dict[str, Note] = {}
    for letter, folder in sorted(_FOLDERS.items()):
        for file in sorted((spec / folder).glob("*.md")):
            if file.name == "README.md":
                continue
            path = f"{spec.name}/{folder}/{file.name}"
            match = _FILE.match(file.name)
            if match is None or match.group(1) != letter:
                raise SpecError(path, 1, f"a file here is called {letter}001-a-few-words.md")
            note = _note(letter + match.group(2), file.read_text(encoding="utf-8"), path, operators)
            if note.id in notes:
                raise SpecError(path, 1, f"{note.id} is {notes[note.id].path} too")
            notes[note.id] = note
    return list(notes.values())


def suites_named(key: str, releases: list[str], pinned: str) -> list[str]:
    """Returns the suites of a key: `onnx` is the pinned suite, `onnx@1.6.0..1.9.0` the suites of that range of
    releases."""
    first, _, last = (key.partition("@")[2] or pinned).partition("..")
    last = last or first
    if not {first, last} <= set(releases) or releases.index(first) > releases.index(last):
        raise SpecError("spec/releases.yaml", 1, f"{key}: the releases with suites are {' '.join(releases)}")
    return [f"onnx@{release}" for release in releases[releases.index(first) : releases.index(last) + 1]]


def strangers(operators: list[Operator], notes: list[Note]) -> list[str]:
    """Returns errors: entries that name a question as open, or rule by it, although the question does not list their
    version."""
    open_ = {note.id: note.operators for note in notes if note.status == "open"}
    any_ = {note.id: note.operators for note in notes}
    versions = [version for operator in operators for version in operator.versions]
    found = [
        f"{version.path}:{text.line}: {id_} is no open question about {version.name}"
        for version in versions
        for id_, text in version.open.items()
        if version.name not in open_.get(id_, [])
    ]
    return found + [
        f"{version.path}:{form.text.line}: {id_} is no question about {version.name}"
        for version in versions
        for id_, form in version.profiles.items()
        if version.name not in any_.get(id_, [])
    ]


def _note(id_: str, text: str, path: str, operators: list[Operator]) -> Note:
    parts = text.split("---\n", 2)
    if len(parts) != 3 or parts[0]:
        raise SpecError(path, 1, "a file begins with its front matter, between two lines of ---")
    # The empty line replaces the first ---, so that line numbers are those of the file.
    front = parse("\n" + parts[1], path)
    if not isinstance(front, Map):
        raise SpecError(path, 1, "the front matter is a mapping")
    _known(front, _KEYS if id_[0] == "Q" else _KEYS - {"probes"}, path)
    note = Note(
        id_,
        _text(front, "title", path),
        _versions(front, operators, path),
        _one_of(front, "status", STATUS, path),
        _cases(front, path),
        list(front.get("bodies") or []),
        path,
        parts[2],
        _witnesses(front, path),
        _explains(front, path),
    )
    for heading in HEADINGS[id_[0]]:
        if f"\n## {heading}\n" not in note.body:
            raise SpecError(path, 1, f"there is no part '## {heading}'")
    if id_[0] == "E" and not note.cases and not note.bodies:
        raise SpecError(path, 1, "an erratum names the cases or the function bodies that are wrong")
    since = {v.name: v.since for operator in operators for v in operator.versions}
    for name, probe in (front.get("probes") or {}).items():
        note.probes.append(_probe(id_, name, probe, note.operators, since, path))
    return note


def _known(given: Map, keys: set[str], path: str) -> None:
    for key in given:
        if key not in keys:
            raise SpecError(path, given.lines[key], f"'{key}' is none of {', '.join(sorted(keys))}")


def _text(given: Map, key: str, path: str) -> str:
    if not isinstance(given.get(key), str) or not given[key]:
        raise SpecError(path, given.lines.get(key, given.line), f"'{key}' is a text")
    return given[key]


def _one_of(given: Map, key: str, words: tuple[str, ...], path: str) -> str:
    if given.get(key) not in words:
        raise SpecError(path, given.lines.get(key, given.line), f"'{key}' is one of {', '.join(words)}")
    return given[key]


def _versions(front: Map, operators: list[Operator], path: str) -> list[str]:
    """Returns versions by name: `Max` is every version of it, `Max-13` is one."""
    versions = {o.op: [v.name for v in reversed(o.versions)] for o in operators}
    known = {name: [name] for names in versions.values() for name in names} | versions
    out: list[str] = []
    for name in front.get("operators") or []:
        if name not in known:
            raise SpecError(path, front.lines["operators"], f"there is no operator version '{name}'")
        out += known[name]
    if not out:
        raise SpecError(path, front.line, "'operators' names the versions that the file speaks of")
    return out


def _cases(front: Map, path: str) -> dict[str, list[str]]:
    cases = front.get("cases") or {}
    for suite, names in cases.items():
        good = re.fullmatch(r"onnx(@\d+\.\d+\.\d+(\.\.\d+\.\d+\.\d+)?)?", suite) and isinstance(names, list) and names
        if not good or not all(isinstance(name, str) for name in names):
            raise SpecError(
                path,
                front.lines["cases"],
                f"'{suite}': a suite is onnx, onnx@VERSION or onnx@FROM..TO, with names of cases",
            )
    return {suite: list(names) for suite, names in cases.items()}


def is_outcome(text: Any) -> bool:
    return isinstance(text, str) and OUTCOME.match(text) is not None and text != "pass/pass"


def _explains(front: Map, path: str) -> dict[str, list[str]]:
    given = front.get("explains") or Map()
    _known(given, set(TARGETS), path)
    if ("explains" in front) != ("cases" in front):
        raise SpecError(path, front.line, "'cases' and 'explains' stand together: which outcomes of these cases")
    for target, outcomes in given.items():
        if not isinstance(outcomes, list) or not outcomes or not all(map(is_outcome, outcomes)):
            raise SpecError(path, given.lines[target], f"'{target}': {OUTCOME_FORM}")
    return {target: list(given[target]) for target in TARGETS if target in given}


def _witnesses(front: Map, path: str) -> dict[str, str]:
    given = front.get("witnesses") or Map()
    _known(given, set(WITNESSES), path)
    return {kind: _text(given, kind, path) for kind in given}


def _probe(id_: str, name: str, says: Any, operators: list[str], since: dict[str, int], path: str) -> Probe:
    if not isinstance(says, Map):
        raise SpecError(path, 1, f"the probe {name} is a mapping")
    _known(says, _PROBE_KEYS, path)
    of = _text(says, "of", path)
    if of not in operators:
        raise SpecError(path, says.lines["of"], f"{of} is none of the file's operators")
    answers = says.get("says") or {}
    if sorted(answers) != sorted(RUNTIMES):
        raise SpecError(path, says.line, f"the probe {name} says what {', '.join(RUNTIMES)} answer")
    if answers["reference"] == SAME:
        raise SpecError(path, says.line, f"the probe {name}: the reference is what others are the same as")
    full = {key: answers["reference"] if value == SAME else value for key, value in answers.items()}
    for key, value in full.items():
        if value not in REFUSALS and not isinstance(value, dict):
            raise SpecError(
                path, says.line, f"the probe {name}: {key} answers {{output: value}} or {', '.join(REFUSALS)}"
            )
    return Probe(id_, name, of, says.get("opset") or since[of], says.get("case") or {}, full, path, says.line)
