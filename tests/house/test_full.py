"""Tests make full's driver with small steps."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools.full import ROOT, STEPS, Step, campaign, state_of_sources


def _shell(name: str, text: str) -> Step:
    return Step(name, (("sh", "-c", text),))


def _sources(folder: Path, **files: str) -> Path:
    """Writes files in a git repository; returns its folder."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for name, text in files.items():
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "file").write_text(text)
    return folder


def test_a_failed_step_stops_none_after_it_and_is_run_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen = tmp_path / "seen"
    steps = [
        _shell("one", f"echo one >> {seen}; echo 3 passed"),
        _shell("two", f"echo two >> {seen}; test -e {tmp_path}/mended"),
        _shell("three", f"echo three >> {seen}"),
    ]
    root = _sources(tmp_path / "root", a="1")
    assert campaign(steps, ["*"], False, root, tmp_path / "out") == 1
    printed = capsys.readouterr().out
    assert "2 steps passed, 1 failed, 0 not run" in printed
    assert "3 passed" in printed
    (tmp_path / "mended").touch()
    assert campaign(steps, ["*"], False, root, tmp_path / "out") == 0
    assert seen.read_text().split() == ["one", "two", "three", "two"]


def test_a_step_that_has_not_run_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    steps = [_shell("one", "true"), _shell("two", "true")]
    assert campaign(steps, ["one"], False, _sources(tmp_path / "root"), tmp_path / "out") == 1
    assert "1 steps passed, 0 failed, 1 not run" in capsys.readouterr().out


def test_other_sources_make_all_steps_run_that_read_them(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    steps = [_shell("one", f"echo one >> {seen}"), Step("two", (("sh", "-c", f"echo two >> {seen}"),), (), ("docs/",))]
    for text in ("a", "a", "b"):
        root = _sources(tmp_path / "root", docs=text)
        assert campaign(steps, ["*"], False, root, tmp_path / "out") == 0
    assert seen.read_text().split() == ["one", "two", "one"]
    assert campaign(steps, ["*"], False, _sources(root, core="a"), tmp_path / "out") == 0
    assert seen.read_text().split() == ["one", "two", "one", "one", "two"]


def test_a_step_runs_again_when_its_own_commands_change(tmp_path: Path) -> None:
    seen, root = tmp_path / "seen", _sources(tmp_path / "root", a="1")
    one, two = _shell("one", f"echo one >> {seen}"), _shell("two", f"echo two >> {seen}")
    other = _shell("two", f"echo other >> {seen}")
    set_apart = Step("one", one.commands, (("A", "1"),))
    for steps in ([one], [one, two], [one, other], [set_apart, other]):
        assert campaign(steps, ["*"], False, root, tmp_path / "out") == 0
    assert seen.read_text().split() == ["one", "two", "other", "one"]


def test_folders_that_are_irrelevant_exist_and_are_not_those_of_the_step() -> None:
    for step in STEPS:
        assert all((ROOT / name).exists() for name in step.irrelevant)
        modules = [word.replace(".", "/") for command in step.commands for word in command if word.startswith("tests.")]
        assert not [name for module in modules for name in step.irrelevant if f"{module}/".startswith(name)]


def test_steps_run_side_by_side_but_for_those_that_are_alone(tmp_path: Path) -> None:
    def waits_for(own: str, other: str) -> str:
        waits = f"for k in $(seq 100); do test -e {tmp_path}/{other} && exit 0; sleep 0.05; done"
        return f"touch {tmp_path}/{own}; {waits}; exit 1"

    beside = [_shell("one", waits_for("a", "b")), _shell("two", waits_for("b", "a"))]
    held = f"mkdir {tmp_path}/held && sleep 0.1 && rmdir {tmp_path}/held"
    alone = [Step(name, (("sh", "-c", held),), alone=True) for name in ("three", "four")]
    root = _sources(tmp_path / "root", a="1")
    assert campaign([alone[0], *beside, alone[1]], ["*"], False, root, tmp_path / "out", jobs=3) == 0
    (tmp_path / "a").unlink()
    (tmp_path / "b").unlink()
    assert campaign(beside[:1], ["*"], True, root, tmp_path / "out", jobs=1) == 1


def test_the_state_of_sources_follows_changes(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "a").write_text("1")
    first = state_of_sources(tmp_path)
    assert state_of_sources(tmp_path) == first
    (tmp_path / "a").write_text("2")
    assert state_of_sources(tmp_path) != first


def test_names_of_steps_differ() -> None:
    assert len({step.name for step in STEPS}) == len(STEPS)
