"""The lists of slips match the present sources: each text occurs once, and each named test exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.slips import ROOT, Slip, read_slips, where_tests_are

HERE = Path(__file__).parent
LISTS = {
    "judge": ("conformance/judge", "reference/semantics"),
    "kernels": ("optimized/kernels", "optimized/kernels/rows"),
}


@pytest.mark.parametrize("name", LISTS)
def test_each_slip_is_of_a_text_that_stands_once_and_names_a_test(name: str) -> None:
    slips, there = read_slips(HERE / name), where_tests_are(LISTS[name])
    assert len(slips) >= 25
    assert len({(s.file, s.old, s.new) for s in slips}) == len(slips)
    for slip in slips:
        assert slip.made != (ROOT / slip.file).read_text(encoding="utf-8"), slip
        assert slip.test in there, slip


def test_a_text_that_is_gone_or_stands_twice_is_an_error() -> None:
    for old in ("no such text", "#include"):
        with pytest.raises(ValueError, match="once is meant"):
            Slip("conformance/judge/extended.cc", "", old, "", "").made  # noqa: B018
