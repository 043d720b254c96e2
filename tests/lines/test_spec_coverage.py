"""Coverage of the spec: the instrumented kernels that codegen writes, and the report from gcov's counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.emit_kernels import environment, header_of
from codegen.load import load_spec
from codegen.units import primitives, units_of
from tools.spec_coverage import Clause, Coverage, count
from tools.spec_coverage_report import as_json, report

ROOT = Path(__file__).resolve().parents[2]


def header(op: str, counted: bool) -> str:
    (operator,) = [operator for operator in load_spec(ROOT / "spec") if operator.op == op]
    unit = units_of(operator, primitives(ROOT / "spec"), counted)[-1]
    return header_of(environment(), unit, counted)


def test_every_condition_of_a_counted_kernel_asks_a_function_of_its_own() -> None:
    text = header("Clip", counted=True)
    assert [text.count(f"side_{k}(") for k in range(5)] == [2, 2, 2, 2, 0]  # its definition and its call
    assert "select(" not in text
    assert "\n#line" not in text and "//#line" in text
    assert '"spec/ops/ai.onnx/Clip.yaml"' in text


def test_other_kernels_are_as_if_nobody_counted() -> None:
    text = header("Clip", counted=False)
    assert "side" not in text
    assert "select(" in text


KERNEL = """\
  //#side 0 3 "spec/a.yaml" 100 if x < 0
  static bool side_0(bool truth) {
    if (truth)
      return true;
    return false;
  }
  explicit A(const Facts& facts) {
//#line 2 "spec/a.yaml"
    facts.require(x);
    work = 1.0;
  }
  void run() const {
//#line 3 "spec/a.yaml"
    {
      for (Index x = 0; x < n; ++x) {
        put(x);
      }
    }
  }
"""
ALL = {3: 2, 4: 1, 5: 1, 9: 4, 10: 4, 14: 2, 15: 2, 16: 1}


def measured(tmp_path: Path, hits: dict[int, int]) -> Coverage:
    file = tmp_path / "A.h"
    file.write_text(KERNEL, encoding="utf-8")
    coverage = Coverage()
    count(coverage, file, hits, lambda clause: f"line {clause.line}")
    return coverage


def test_all_is_reached(tmp_path: Path) -> None:
    coverage = measured(tmp_path, ALL)
    assert (coverage.share("statements"), coverage.share("sides")) == ((2, 2), (2, 2))
    assert report(coverage, {}) == (["statements     2 of     2  100.0%  sides     2 of     2  100.0%  all"], True)


@pytest.mark.parametrize(
    ("line", "said"),
    [(16, "spec/a.yaml:3 line 3"), (9, "spec/a.yaml:2 line 2"), (5, "spec/a.yaml:3 never false: x < 0")],
)
def test_what_did_not_run_is_named(tmp_path: Path, line: int, said: str) -> None:
    lines, enough = report(measured(tmp_path, ALL | {line: 0}), {})
    assert lines[-1] == f"not reached: {said}"
    assert not enough


def test_what_one_kernel_reaches_another_need_not(tmp_path: Path) -> None:
    coverage = measured(tmp_path, ALL | {5: 0, 16: 0})
    for clause, ran in measured(tmp_path, ALL).reached.items():
        coverage.add(clause, ran, "")
    assert report(coverage, {})[1]


def test_an_excuse_holds_for_what_is_not_reached_alone(tmp_path: Path) -> None:
    excuse = {("spec/a.yaml", "never false: x < 0"): "x is negative"}
    lines, enough = report(measured(tmp_path, ALL | {5: 0}), excuse)
    assert not any(line.startswith("not reached") for line in lines)
    assert not enough, "half of the sides is too few, whatever the reason"
    lines, enough = report(measured(tmp_path, ALL), excuse)
    assert "spec/a.yaml never false: x < 0" in lines[-1]
    assert not enough


def mostly(reached: Coverage) -> Coverage:
    """Adds a hundred reached branches and statements."""
    for k in range(100):
        reached.add(Clause("spec/b.yaml", k, 0, ""), True, "")
        reached.add(Clause("spec/b.yaml", k, 1, "true"), True, "")
    return reached


def test_what_is_not_reached_needs_a_reason(tmp_path: Path) -> None:
    coverage = mostly(measured(tmp_path, ALL | {5: 0}))
    assert not report(coverage, {})[1]
    assert report(coverage, {("spec/a.yaml", "never false: x < 0"): "x is negative"})[1]


def test_the_page_is_told_the_same(tmp_path: Path) -> None:
    excuse = {("spec/a.yaml", "never false: x < 0"): "x is negative"}
    told = as_json(measured(tmp_path, ALL | {5: 0}), excuse, 12)
    assert (told["cases"], told["statements"], told["sides"]) == (12, (2, 2), (1, 2))
    missed = [{"clause": "spec/a.yaml:3 never false:", "text": "x < 0", "reason": "x is negative"}]
    assert told["files"] == [{"path": "spec/a.yaml", "statements": (2, 2), "sides": (1, 2), "missed": missed}]
