"""Each kernel class on lines of its own, of sizes that it is written for, accepted by the judge.

A line that runs on another class is a failure, since a class without lines goes unjudged. The session uses the target's
defaults: Winograd's algorithm and all passes.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.fast.suite import ISAS, KERNELS, ROOT, judged, lacks

TOUCHSTONE = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build")) / "touchstone"
NAMES = ROOT / "optimized" / "plan" / "kernel_class.h"
ELSEWHERE = {"reference": "no fast kernel", "contract": "devices alone, on which devices_test runs it"}
# SSE4.1 has no kernels of this class: its lines run on the direct convolution.
INSTEAD = {"sse41": {"winograd": "convolution"}}


def lines_of(kernel: str) -> list[str]:
    lines = (KERNELS / f"{kernel}.cases").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_every_class_of_kernels_has_lines() -> None:
    classes = set(re.findall(r'return "([\w-]+)";', NAMES.read_text(encoding="utf-8")))
    assert {file.stem for file in KERNELS.glob("*.cases")} == classes - ELSEWHERE.keys()


@pytest.mark.parametrize("isa", ISAS)
def test_each_line_runs_on_its_class_and_passes(isa: str, tmp_path: Path) -> None:
    if lacks(TOUCHSTONE, isa):
        pytest.skip(f"this processor has no {isa}")
    suite = tmp_path / "kernels.cases"
    suite.write_text("".join(f"{line}\n" for file in KERNELS.glob("*.cases") for line in lines_of(file.stem)))
    found = judged(TOUCHSTONE, isa, suite, tmp_path / "report.json", "--runs", "1")
    assert found.fails == []
    assert found.code == 0, found.said
    expected = {}
    for file in KERNELS.glob("*.cases"):
        kernel = INSTEAD.get(isa, {}).get(file.stem, file.stem)
        expected.update({line: [kernel] for line in lines_of(file.stem)})
    assert found.kernels == expected
