"""make test counts single cases, and no kind of failure can be counted as a pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import run_all

GTEST = (
    '<testsuites><testsuite name="A">'
    '<testcase name="a" status="run" classname="A"/>'
    '<testcase name="b" status="run" classname="A"><failure message="no"/></testcase>'
    '<testcase name="c" status="notrun" classname="A"/>'
    '<testcase name="d" status="run" result="skipped" classname="A">'
    '<skipped message="/a/b_test.cc:12&#x0A;no  such thing"/></testcase>'
    "</testsuite></testsuites>"
)
PASSED = '<testsuites><testsuite><testcase classname="p" name="q" time="0"/></testsuite></testsuites>'


def ctest(*programs: tuple[str, str]) -> str:
    rows = "".join(f'<testcase name="{name}" classname="{name}" status="{status}"/>' for name, status in programs)
    return f"<testsuite>{rows}</testsuite>"


def counted(build: Path, preset: str, files: dict[str, str]) -> run_all.Count:
    (build / "results").mkdir(parents=True)
    for name, text in files.items():
        (build / "results" / f"{name}.xml").write_text(text)
    return run_all.count_preset(build, preset)


@pytest.mark.parametrize(
    ("files", "passed", "failed", "skipped"),
    [
        ({"ctest": ctest(("x", "fail")), "x": GTEST}, 1, 1, 2),
        ({"ctest": ctest(("x", "run")), "x": PASSED}, 1, 0, 0),
        ({"ctest": ctest(("plain", "run"))}, 1, 0, 0),
        ({"ctest": ctest(("died", "fail"))}, 0, 1, 0),
        ({"ctest": ctest(("died", "fail")), "died": PASSED}, 1, 1, 0),
        ({"ctest": ctest(("died", "fail")), "died": PASSED[:30]}, 0, 1, 0),
        ({"ctest": ctest()}, 0, 0, 0),
    ],
)
def test_cases_are_counted(tmp_path: Path, files: dict[str, str], passed: int, failed: int, skipped: int) -> None:
    count = counted(tmp_path, "release", files)
    assert (count.of("passed"), count.of("failed"), count.of("skipped")) == (passed, failed, skipped)
    assert len(count.failures) == failed


def test_a_skip_has_its_reason(tmp_path: Path) -> None:
    count = counted(tmp_path, "release", {"ctest": ctest(("x", "fail")), "x": GTEST})
    assert sorted(count.skips()) == ["disabled", "no such thing"]


SKIPPED = PASSED.replace("/></testsuite>", '><skipped message="not here"/></testcase></testsuite>')
FAILED = SKIPPED.replace("skipped", "failure")


@pytest.mark.parametrize(
    ("release", "asan", "how"),
    [
        (PASSED, PASSED, "passed"),
        (PASSED, SKIPPED, "passed"),
        (SKIPPED, PASSED, "passed"),
        (SKIPPED, SKIPPED, "skipped"),
        (PASSED, FAILED, "failed"),
        (FAILED, PASSED, "failed"),
        (FAILED, FAILED, "failed"),
    ],
)
def test_a_test_of_two_builds_counts_once(tmp_path: Path, release: str, asan: str, how: str) -> None:
    total = run_all.Count()
    for preset, text in (("release", release), ("asan", asan)):
        total.add(counted(tmp_path / preset, preset, {"ctest": ctest(("x", "run")), "x": text}))
    assert list(total.how.values()) == [how]
    assert total.skips() == (["not here"] if how == "skipped" else [])
    assert len(total.failures) == (release, asan).count(FAILED)


def test_one_name_in_two_programs_is_two_tests(tmp_path: Path) -> None:
    count = counted(tmp_path, "release", {"ctest": ctest(("x", "run"), ("y", "run")), "x": PASSED, "y": PASSED})
    assert count.of("passed") == 2


def test_a_skip_needs_a_row_and_the_row_a_place_for_it() -> None:
    allowed = [{"reason": "no suite", "at_most": 2}, {"reason": "no * here", "at_most": 1}]
    assert run_all.breaches([], allowed) == []
    assert run_all.breaches(["no suite", "no suite", "no sse here"], allowed) == []
    assert "at most 2" in run_all.breaches(["no suite"] * 3, allowed)[0]
    assert "at most 1" in run_all.breaches(["no sse here", "no avx here"], allowed)[0]
    assert "another reason" in run_all.breaches(["another reason"], allowed)[0]


def test_the_rows_say_why() -> None:
    for row in run_all.allowed_skips():
        assert set(row) == {"reason", "at_most", "why"}
        assert row["at_most"] > 0 and row["why"].strip()
