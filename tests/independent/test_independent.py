"""The generated kernels and the second interpreter agree on a sample of the spec suite: one line of each version."""

from __future__ import annotations

import pytest

from tests.independent.__main__ import Outcome, evaluate

EACH = 1


@pytest.fixture(scope="session")
def outcome() -> Outcome:
    return evaluate("spec", each=EACH)


def test_every_kernel_answers_what_its_definition_says(outcome: Outcome) -> None:
    assert [f"{case['verdict']}: {case['name']}: {case['detail']}" for case in outcome.new] == []


def test_what_is_refused_is_refused_by_the_same_rule(outcome: Outcome) -> None:
    assert outcome.rules == []


def test_what_is_known_to_part_still_does(outcome: Outcome) -> None:
    assert outcome.stale == []


def test_little_is_left_out(outcome: Outcome) -> None:
    assert outcome.verdicts["exact"] > 10 * sum(outcome.left_out.values()), outcome.left_out
