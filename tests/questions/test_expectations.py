"""The complaints of tools/expectations.py: expected outputs that the judge refuses need an explanation."""

from __future__ import annotations

from typing import Any

import pytest

from tools.expectations import complaints, open_cases

JUDGED = {"node": "Exp-13", "form": "elementwise", "type": "float", "elements": 4, "open": 0, "resolution": 0.0}


def case(verdict: str, judged: bool = True, explained: tuple[str, ...] = ()) -> dict[str, Any]:
    made = {"name": "test_a", "kind": "node", "verdict": verdict, "detail": "why", "explained": list(explained)}
    return made | ({"judged": JUDGED} if judged else {})


def run(*cases: dict[str, Any], open_: int = 3, resolution: float = 2.0**-16) -> dict[str, Any]:
    floats = {"cases": 1, "elements": 100, "open": open_, "resolution": resolution}
    return {"summary": {"floats": floats}, "cases": list(cases)}


@pytest.mark.parametrize("verdict", ["exact", "within(0.3)", "in-set", "profile"])
def test_what_is_right_needs_no_reason(verdict: str) -> None:
    assert complaints(run(case(verdict))) == []


def test_what_cannot_be_judged_needs_none() -> None:
    assert complaints(run(case("open", judged=False))) == []


@pytest.mark.parametrize("verdict", ["wrong-value", "mistrusted", "harness", "open"])
def test_what_is_not_right_needs_one(verdict: str) -> None:
    assert complaints(run(case(verdict))) == [f"{verdict} node/test_a: why"]
    assert complaints(run(case(verdict, explained=("E001",)))) == []


def test_what_is_open_says_why() -> None:
    opened = [
        case("open", judged=False) | {"op": op, "detail": detail}
        for op, detail in (
            ("", "3 nodes: by the suite's rule only"),
            ("If", "If runs a body, which is not judged from outside"),
            ("Bernoulli", "Bernoulli: no definition to judge it by"),
            ("Bernoulli", "Bernoulli: no definition to judge it by"),
        )
    ]
    assert open_cases(run(*opened, case("exact"))) == "2 Bernoulli, 1 several nodes, 1 a body"


def test_blunt_bounds_are_named() -> None:
    assert complaints(run(open_=4)) == ["4 of 100 elements of single float nodes are open"]
    assert complaints(run(resolution=2.0**-15)) == ["the median resolution is 3.05e-05"]
