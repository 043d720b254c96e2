"""The README's table of fast kernels has the numbers that codegen gives."""

from __future__ import annotations

import re
from pathlib import Path

from codegen.emit_halide import products_of
from codegen.emit_row_kernels import products_of_row_kernels
from codegen.load import load_spec

ROOT = Path(__file__).resolve().parents[2]
BY_HAND = {
    "convolution", "transposed_convolution", "max_pool", "average_pool", "global_average", "global_max", "gemm",
    "matmul",
}  # fmt: skip


def test_versions_by_the_origin_of_their_kernel() -> None:
    operators = load_spec(ROOT / "spec")
    versions = {v.name: v for operator in operators for v in operator.versions}
    fast = products_of(operators, ROOT / "spec").fast
    halide = {v.name for each in fast for v in each.unit.versions}
    rows = {
        v.name for kernel in products_of_row_kernels(operators, ROOT / "spec").row_kernels for v in kernel.u.versions
    }
    hand = {name for name, v in versions.items() if v.fast in BY_HAND}
    movement = {name for name, v in versions.items() if v.form == "move"}
    resample = {name for name, v in versions.items() if v.form == "resample"}
    assert halide & rows == {"Clip-11", "Clip-12", "Clip-13"}
    assert hand <= rows and not (halide | rows) & (movement | resample)
    rest = set(versions) - halide - rows - movement - resample
    counts = [len(each) for each in (halide, rows, hand, movement, resample, rest)]
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    table = page.split("## Kernels of the fast executor", 1)[1].split("\n## ", 1)[0]
    assert [int(found) for found in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)] == counts
    assert f"Each of the {len(versions)} versions" in table
    assert f"There are {len({each.kernel for each in fast})} Halide algorithms" in table
