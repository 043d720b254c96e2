"""Every operator has one sentence in our own words: no eight words in a row occur in the standard's text."""

from __future__ import annotations

import re

import pytest

from codegen.entry import Operator
from codegen.facts import load_prose

RUN = 8


def words(text: str) -> list[str]:
    return re.sub(r"[^\w\s]", "", text.lower()).split()


def shared_runs(ours: str, theirs: str) -> list[str]:
    """Each run of eight words that both texts contain."""
    left, right = words(ours), words(theirs)
    known = {tuple(right[i : i + RUN]) for i in range(len(right) - RUN + 1)}
    return [" ".join(left[i : i + RUN]) for i in range(len(left) - RUN + 1) if tuple(left[i : i + RUN]) in known]


def faults(doc: str) -> list[str]:
    """Reasons why a text is not one sentence."""
    found = []
    if len(words(doc)) < 5:
        found.append("fewer than five words")
    if not re.match(r"[A-Z]", doc) or not doc.endswith("."):
        found.append("a sentence begins with a capital letter and ends with a full stop")
    if re.search(r"[.!?;]\s", doc):
        found.append("two sentences")
    return found


def sentences(operators: list[Operator]) -> list[tuple[Operator, str, str]]:
    """Each text with its place: the operator's, and those of versions with their own."""
    result = []
    for operator in operators:
        result.append((operator, f"{operator.path}: {operator.op}", operator.doc))
        result += [
            (operator, f"{version.path}:{version.line}: {version.name}", version.doc)
            for version in operator.versions
            if version.doc != operator.doc
        ]
    return result


def test_every_operator_has_one_sentence(operators: list[Operator]) -> None:
    assert [f"{place}: {fault}" for _, place, doc in sentences(operators) for fault in faults(doc)] == []


def test_no_two_operators_have_the_same_sentence(operators: list[Operator]) -> None:
    docs = [operator.doc for operator in operators]
    assert sorted(doc for doc in set(docs) if docs.count(doc) > 1) == []


def test_sentences_share_no_eight_words_with_the_standard(operators: list[Operator]) -> None:
    prose = load_prose()
    found = [
        f"{place}: {run}"
        for operator, place, doc in sentences(operators)
        for theirs in prose[operator.domain, operator.op]
        for run in shared_runs(doc, theirs)
    ]
    assert found == []


def test_what_stands_in_backquotes_is_a_parameter_or_an_attribute(operators: list[Operator]) -> None:
    found = []
    for operator in operators:
        versions = operator.versions
        names = {p.name for v in versions for p in (*v.inputs, *v.outputs)} | {
            a.name for v in versions for a in v.attributes
        }
        found += [f"{operator.path}: {name}" for name in re.findall("`([^`]*)`", operator.doc) if name not in names]
        if versions[0].inputs and not any(f"`{p.name}`" in operator.doc for p in versions[0].inputs):
            found.append(f"{operator.path}: names no input")
    assert found == []


@pytest.mark.parametrize(
    ("doc", "fault"),
    [
        ("", "fewer than five words"),
        ("Adds two tensors.", "fewer than five words"),
        ("Adds `A` to `B`. Broadcasts them both.", "two sentences"),
        ("Adds `A` to `B`, element by element", "a sentence begins"),
        ("TODO", "fewer than five words"),
    ],
)
def test_a_text_that_is_no_sentence_is_found(doc: str, fault: str) -> None:
    assert any(found.startswith(fault) for found in faults(doc))


def test_a_copied_run_is_found() -> None:
    prose = " ".join(f"word{i}" for i in range(20))
    assert shared_runs("Here: word3 word4, WORD5 `word6` word7 word8 word9 word10.", prose) != []
    assert shared_runs("Here: word3 word4, WORD5 `word6` word7 word8 word9 not.", prose) == []
