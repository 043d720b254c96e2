"""A converted model gives the same bits: a sample of the cases that tools/conversions.py runs in full.

Every literal case is converted up to the newest opset and down by one version of its operator. A refusal must name a
rule. The share of refusals is bounded, so that a conversion rule that no longer applies is noticed.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from codegen.emit_cases import emit, load_releases
from codegen.load import load_spec
from tests.codes.graphs import has_judge
from tools.conversions import SUITES, Part, Row, is_wrong, rows_of

# Lower bounds of the share that converts, slightly below today's results because the shares change as cases are added.
UP, DOWN, DOWN_FROZEN, FIRST_SUITE = 0.92, 0.65, 0.67, 0.95
FIRST = SUITES / "1.2.1" / "node"
ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of literal cases in the build, which cases_test writes before; writes them if they are missing."""
    out = BUILD / "cases"
    if not (out / "positive").is_dir():
        emit(load_spec(ROOT / "spec"), load_releases(ROOT / "spec"), out)
    return out / "positive"


@pytest.fixture(scope="session")
def every() -> int:
    """Takes every n-th case: fewer in a sanitized build, which is slow."""
    return 2 if has_judge() else 12


def wrong(rows: list[Row]) -> list[Row]:
    return [row for row in rows if is_wrong(row)]


def share(rows: list[Row], target: str) -> float:
    counts = Counter(row["came"] for row in rows if row.get("to") == target)
    return counts["same"] / sum(counts.values())


def test_literal_cases_go_up_and_one_version_down(cases: Path, every: int) -> None:
    rows = list(rows_of(Part("literal", cases, "newest,previous", every=every)))
    assert not wrong(rows)
    assert share(rows, "newest") > UP
    assert share(rows, "previous") > DOWN


def test_literal_cases_of_constants_go_down(cases: Path, every: int) -> None:
    rows = list(rows_of(Part("literal, frozen", cases, "previous,11,7", frozen=True, every=every)))
    assert not wrong(rows)
    assert share(rows, "previous") > DOWN_FROZEN


@pytest.mark.skipif(not FIRST.is_dir(), reason="the first suite is in no cache")
def test_the_first_suite_reaches_the_newest_opset(every: int) -> None:
    rows = list(rows_of(Part("onnx 1.2.1", FIRST, "newest", every=max(1, every // 2))))
    assert len(rows) > 30
    assert not wrong(rows)
    assert share(rows, "newest") > FIRST_SUITE
