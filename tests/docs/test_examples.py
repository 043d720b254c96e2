"""Every example prints what docs/examples/README.md shows; those in C and C++ print what their Python twin does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
FOLDER = ROOT / "docs" / "examples"
BLOCKS = re.findall(r"```console\n\$ (.*)\n((?:.*\n)*?)```", (FOLDER / "README.md").read_text(encoding="utf-8"))
SHOWN = {re.search(r"examples/(\w+)\.py", line)[1]: (line, output) for line, output in BLOCKS}  # type: ignore[index]
TWINS = [path.name for path in sorted(FOLDER.iterdir()) if path.suffix in (".c", ".cpp")]


def shell(line: str, folder: Path, **more: str) -> str:
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=os.environ | more,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def run_python(line: str, folder: Path) -> str:
    python = f"{sys.executable} {ROOT}/docs"
    return shell(line.replace("python docs", python), folder, PYTHONPATH=str(BUILD / "python"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("examples")
    run_python(SHOWN["models"][0], made)
    return made


def test_every_example_is_shown() -> None:
    assert set(SHOWN) == {path.stem for path in FOLDER.glob("*.py")} - {"other_build", "worker"}  # targets
    assert {Path(name).stem for name in TWINS} < set(SHOWN)
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in TWINS)


@pytest.mark.parametrize("name", sorted(set(SHOWN) - {"models"}))
def test_it_prints_what_is_shown(name: str, folder: Path) -> None:
    line, output = SHOWN[name]
    assert run_python(line, folder) == output


@pytest.mark.parametrize("name", TWINS)
def test_a_program_prints_the_same(name: str, folder: Path) -> None:
    line, output = SHOWN[Path(name).stem]
    compiler = ["gcc", "-std=c11"] if name.endswith(".c") else ["g++", "-std=c++20"]
    command = [*compiler, "-O1", "-Wall", "-Wextra", "-Werror", str(FOLDER / name), f"-I{ROOT / 'include'}"]
    command += [
        f"-L{BUILD / 'lib'}",
        "-ltouchstone",
        "-lm",
        f"-Wl,-rpath,{BUILD / 'lib'}",
        "-o",
        str(folder / "program"),
    ]
    subprocess.run(command, check=True, timeout=120)
    ran = shell(re.sub(r"python docs/examples/\w+\.py", "./program", line), folder)
    assert ran == output
