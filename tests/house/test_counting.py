"""make test counts single cases, and nothing that went wrong can look like a pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import run_all

GTEST = (
    '<testsuites><testsuite name="A">'
    '<testcase name="a" status="run" classname="A"/>'
    '<testcase name="b" status="run" classname="A"><failure message="no"/></testcase>'
    '<testcase name="c" status="notrun" classname="A"/>'
    "</testsuite></testsuites>"
)
PASSED = '<testsuites><testsuite><testcase classname="p" name="q" time="0"/></testsuite></testsuites>'


def ctest(*programs: tuple[str, str]) -> str:
    rows = "".join(f'<testcase name="{name}" classname="{name}" status="{status}"/>' for name, status in programs)
    return f"<testsuite>{rows}</testsuite>"


@pytest.mark.parametrize(
    ("files", "passed", "failed", "skipped"),
    [
        ({"ctest": ctest(("x", "fail")), "x": GTEST}, 1, 1, 1),
        ({"ctest": ctest(("x", "run")), "x": PASSED}, 1, 0, 0),
        ({"ctest": ctest(("plain", "run"))}, 1, 0, 0),
        ({"ctest": ctest(("died", "fail"))}, 0, 1, 0),
        ({"ctest": ctest(("died", "fail")), "died": PASSED}, 1, 1, 0),
        ({"ctest": ctest(("died", "fail")), "died": PASSED[:30]}, 0, 1, 0),
        ({"ctest": ctest()}, 0, 0, 0),
    ],
)
def test_cases_are_counted(tmp_path: Path, files: dict[str, str], passed: int, failed: int, skipped: int) -> None:
    (tmp_path / "results").mkdir()
    for name, text in files.items():
        (tmp_path / "results" / f"{name}.xml").write_text(text)
    count = run_all.count_preset(tmp_path, "release")
    assert (count.passed, count.failed, count.skipped) == (passed, failed, skipped)
    assert len(count.failures) == failed
