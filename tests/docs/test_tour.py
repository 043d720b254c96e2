"""Runs each command of docs/tour.md and compares its output with the page.

A block marked `console` holds commands after `$ `, continued after `> `, and their output. In an output, `...` matches
any text. Commands run in a scratch folder with links to the project's folders, so that nothing is written into the
tree.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
GENERATED = Path(os.environ.get("TOUCHSTONE_GENERATED", ROOT / "generated"))
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass
class Command:
    text: str
    output: str = ""


def commands_of(page: str) -> list[Command]:
    found: list[Command] = []
    for block in BLOCK.findall(page):
        started = False  # false until the block's first command: output before it belongs to none
        continues = False
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append(Command(line[2:]))
                started = continues = True
            elif continues and line.startswith("> "):
                found[-1].text += "\n" + line[2:]
            else:
                assert started, f"a block opens with output: {line}"
                found[-1].output += line + "\n"
                continues = False
    return found


def matches(expected: str, actual: str) -> bool:
    """True if `actual` is `expected` with any text for each `...`."""
    return re.fullmatch(".*".join(map(re.escape, expected.split("..."))), actual, re.DOTALL) is not None


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tour")
    for path in ROOT.iterdir():
        if path.is_dir() and path.name not in ("build", "generated", ".venv", ".git"):
            (folder / path.name).symlink_to(path)
    (folder / "generated").symlink_to(GENERATED.resolve())
    (folder / ".venv").symlink_to(Path(sys.prefix))
    (folder / "build").mkdir()
    (folder / "build" / "touchstone").symlink_to((BUILD / "touchstone").resolve())
    return folder


COMMANDS = commands_of((ROOT / "docs" / "tour.md").read_text(encoding="utf-8"))


def test_the_tour_has_commands() -> None:
    assert len(COMMANDS) >= 10, "few commands found: has the marker of their blocks changed?"


def test_a_changed_output_is_noticed() -> None:
    assert matches("3 nodes, ... within\n", "3 nodes, 2 exact, 1 within\n")
    assert matches("a\n...\nb\n", "a\n1\n2\nb\n")
    assert not matches("3 nodes, ... within\n", "3 nodes, 2 exact, 1 open\n")
    assert not matches("a\nb\n", "a\nb\nc\n")


def test_commands_of_the_tour_run_as_shown(scratch: Path) -> None:
    """One test, since later commands read the files of earlier ones."""
    environment = {key: text for key, text in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    for command in COMMANDS:
        ran = subprocess.run(
            ["bash", "-c", command.text],
            cwd=scratch,
            env=environment | {"LC_ALL": "C"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        shown = f"$ {command.text}\nexit code {ran.returncode}, printed:\n{ran.stdout}\nexpected:\n{command.output}"
        assert ran.returncode == 0, shown
        assert matches(command.output, ran.stdout), shown
