"""The fast executor on a fixed sample of the spec suite: some lines of every version. `make full` runs all lines."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from conformance.suites.spec_lines import suite_lines
from tests.fast.suite import ISAS, ROOT, judged, lacks, part
from tests.lines.pick import rule_of

TOUCHSTONE = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build")) / "touchstone"
SHARE = {isa: part(suite_lines())[k :: len(ISAS)] for k, isa in enumerate(ISAS)}


def operators(of: Iterable[str]) -> set[str]:
    return {line.partition("(")[0].rpartition("-")[0] for line in of}


def test_the_part_has_lines_of_every_operator_and_of_broken_rules() -> None:
    drawn = [line for share in SHARE.values() for line in share]
    assert operators(drawn) == operators(suite_lines())
    assert sum(bool(rule_of(line)) for line in drawn) > 400


@pytest.mark.parametrize("isa", ISAS)
def test_no_line_fails(isa: str, tmp_path: Path) -> None:
    """Each instruction set gets a third of the lines; SSE4.1 runs the share of a set that this processor lacks."""
    suite = tmp_path / "part.cases"
    suite.write_text("".join(f"{line}\n" for line in SHARE[isa]), encoding="utf-8")
    runs_on = isa if not lacks(TOUCHSTONE, isa) else "sse41"
    found = judged(TOUCHSTONE, runs_on, suite, tmp_path / "report.json", "--runs", "1")
    assert found.fails == []
    assert found.verdicts.total() == len(SHARE[isa]), found.said
    assert found.code == 0, found.said
