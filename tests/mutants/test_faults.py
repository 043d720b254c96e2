"""The lists of faults match the present sources: each text occurs once, and each named test exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.faults import ROOT, Fault, read_faults, where_tests_are

HERE = Path(__file__).parent
LISTS = {
    "judge": ("conformance/judge", "reference/semantics"),
    "kernels": ("optimized/kernels", "optimized/kernels/rows"),
}


@pytest.mark.parametrize("name", LISTS)
def test_each_fault_is_of_a_text_that_occurs_once_and_names_a_test(name: str) -> None:
    faults, there = read_faults(HERE / name), where_tests_are(LISTS[name])
    assert len(faults) >= 25
    assert len({(s.file, s.old, s.new) for s in faults}) == len(faults)
    for fault in faults:
        assert fault.made != (ROOT / fault.file).read_text(encoding="utf-8"), fault
        assert fault.test in there, fault


def test_a_text_that_is_gone_or_stands_twice_is_an_error() -> None:
    for old in ("no such text", "#include"):
        with pytest.raises(ValueError, match="must occur once"):
            Fault("conformance/judge/extended.cc", "", old, "", "").made  # noqa: B018
