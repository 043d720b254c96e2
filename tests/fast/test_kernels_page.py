"""docs/kernels.md matches the present kernels."""

from __future__ import annotations

import os
from pathlib import Path

from tests.fast.kernels_page import PAGE, cell_of, counts_of, page_of, rows_of
from tests.fast.suite import ROOT


def test_the_page_is_as_new_as_the_kernels() -> None:
    fresh = page_of(counts_of(Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))))
    assert PAGE.read_text(encoding="utf-8") == fresh, "run: python -m tests.fast.kernels_page"


def test_a_smaller_share_has_its_number() -> None:
    types = {"float": {"tuned": 3, "reference": 1, "folded": 9}, "int8": {"reference": 2}, "int16": {"reference": 1}}
    assert cell_of(types, "tuned") == "float"
    assert cell_of(types, "reference") == "float (1 of 4), integers"


def test_neighbouring_versions_that_are_alike_share_a_row() -> None:
    counts = {f"Relu-{since}": {"float": {kind: 1}} for since, kind in ((14, "tuned"), (1, "tuned"), (6, "generic"))}
    assert [name for name, _ in rows_of(counts)] == ["Relu 1", "Relu 6", "Relu 14"]
    counts["Relu-6"] = counts["Relu-1"]
    assert [name for name, _ in rows_of(counts)] == ["Relu 1, 6, 14"]
