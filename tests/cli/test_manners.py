"""Manners of the command: its version as JSON, usage errors as JSON, quiet and verbose, completion, the manual page."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli import models
from tests.cli.test_golden import COMMAND, ROOT, touchstone
from tests.codes.graphs import has_judge

SHELLS = ("bash", "zsh", "fish", "man")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("texts")
    return {shell: touchstone(f"completion {shell}", folder).stdout for shell in SHELLS}


def helped(folder: Path, *command: str) -> tuple[list[str], set[str]]:
    """Returns the subcommands and the long options that --help lists."""
    text = touchstone(" ".join([*command, "--help"]), folder).stdout
    options = set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", text, re.MULTILINE))
    return re.findall(r"^  ([a-z]+)  ", text.partition("Subcommands:")[2], re.MULTILINE), options


def test_the_version_tells_commit_compiler_instruction_sets_and_devices(folder: Path) -> None:
    ran = touchstone("--version --json", folder)
    told = json.loads(ran.stdout)
    assert (ran.returncode, told["schema"]) == (0, "touchstone.version/1")
    assert told["version"] == touchstone("--version", folder).stdout.strip()
    assert re.match(r"(gcc|clang) \d", told["compiler"])
    if told["commit"] is not None:
        git = ["git", "-C", str(ROOT), "cat-file", "-t", told["commit"]]
        assert subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip() == "commit"
    if told["instruction_sets"] is not None:
        sets = told["instruction_sets"]
        assert sets["used"] == "sse41" and "sse41" in sets["usable"] and set(sets["usable"]) <= set(sets["built"])
        assert told["devices"][0] == {"name": "cpu", "usable": True, "detail": ""}
    touchstone("--version --json version.json", folder)
    assert json.loads((folder / "version.json").read_text()) == told


@pytest.mark.parametrize("line", ["frobnicate --json", "run --json", "check add.onnx --frobnicate --json"])
def test_a_usage_error_is_an_object_under_json(line: str, folder: Path) -> None:
    ran = touchstone(line, folder)
    told = json.loads(ran.stdout)
    assert (ran.returncode, told["schema"], told["kind"], told["exit_code"]) == (2, "touchstone.error/1", "usage", 2)
    assert told["message"] in ran.stderr


def test_a_usage_error_goes_to_the_file_of_json(folder: Path) -> None:
    ran = touchstone("frobnicate --json usage.json", folder)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert json.loads((folder / "usage.json").read_text())["kind"] == "usage"


def test_an_input_of_nearly_the_right_name_is_suggested(folder: Path) -> None:
    ran = touchstone("run add.onnx --input x=x.npy --input bb=b.npy", folder)
    assert ran.returncode == 2
    assert "its inputs are 'x', 'b'" in ran.stderr
    long = models.model([models.node("Relu", ["input_image"], ["y"])], [models.value("input_image")])
    (folder / "long.onnx").write_bytes(long.SerializeToString())
    ran = touchstone("run long.onnx --input input_imgae=x.npy", folder)
    assert "did you mean 'input_image'?" in ran.stderr


def test_quiet_says_only_errors_and_verbose_says_times(folder: Path) -> None:
    plain = touchstone("check cyclic.onnx", folder)
    quiet = touchstone("check cyclic.onnx -q", folder)
    assert plain.stderr == quiet.stderr + "1 breach\n"
    assert (quiet.returncode, quiet.stdout) == (plain.returncode, plain.stdout)
    assert touchstone("-q run missing.onnx", folder).stderr.startswith("error[file]")
    line = "run add.onnx --input x=x.npy --input b=b.npy"
    assert touchstone(line, folder).stderr == ""
    told = touchstone(f"{line} -v", folder).stderr
    assert re.fullmatch(
        r"loaded and checked: [\d.]+ ms\ninputs read or made: [\d.]+ ms\nrun on reference: [\d.]+ ms\n", told
    )


def test_all_texts_have_every_subcommand_and_option(texts: dict[str, str], folder: Path) -> None:
    commands, options = helped(folder)
    assert {"run", "check", "show", "completion"} <= set(commands)
    for command in commands:
        options |= helped(folder, command)[1]
    for shell, text in texts.items():
        plain = text.replace("\\-", "-")
        for command in commands:
            assert re.search(rf"\b{command}\b", plain), (shell, command)
        for option in options:
            name = option.removeprefix("--")
            wanted = rf"-l {name}\b" if shell == "fish" else rf"--{name}\b"
            assert re.search(wanted, plain), (shell, option)


def completed(texts: dict[str, str], folder: Path, *words: str) -> set[str]:
    """Returns what bash offers for the last of the words."""
    line = " ".join(f"'{word}'" for word in ("touchstone", *words))
    program = f"{texts['bash']}\nCOMP_WORDS=({line})\nCOMP_CWORD={len(words)}\n_touchstone\n"
    program += "printf '%s\\n' \"${COMPREPLY[@]}\""
    done = subprocess.run(["bash", "-c", program], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return set(done.stdout.split())


def test_bash_completes(texts: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "model.onnx").touch()
    assert completed(texts, tmp_path, "sh") == {"show"}
    assert completed(texts, tmp_path, "run", "--runtime", "") == {"reference", "fast"}
    assert completed(texts, tmp_path, "run", "--ou") == {"--output-dir"}
    assert completed(texts, tmp_path, "run", "--random", "mo") == {"model.onnx"}
    assert completed(texts, tmp_path, "check", "--ou") == set()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_takes_its_script(shell: str, texts: dict[str, str], tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        assert len(re.findall("(?<!\\\\)'", texts[shell])) % 2 == 0  # quotes at least are closed
        return
    script = tmp_path / "script"
    script.write_text(texts[shell])
    done = subprocess.run([shell, "-n", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_manual_page_is_set(texts: dict[str, str], folder: Path) -> None:
    assert texts["man"].startswith(".TH TOUCHSTONE 1 ")
    lines = texts["man"].splitlines()
    requests = {line.split()[0] for line in lines if line.startswith(".")}
    assert requests == {".TH", ".SH", ".SS", ".TP"}
    if shutil.which("groff"):
        done = subprocess.run(
            ["groff", "-man", "-Tascii", "-ww", "-"], input=texts["man"], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "EXIT STATUS" in re.sub(".\x08", "", done.stdout)


@pytest.mark.parametrize("signals", [1, 2])
@pytest.mark.parametrize(
    "line",
    [
        "conform --target fast --suite spec --filter Conv* --jobs 1",
        "bench add.onnx --seconds 60 --threads 1 --against reference",
    ],
)
def test_ctrl_c_ends_with_130_and_leaves_no_folder(line: str, signals: int, folder: Path, tmp_path: Path) -> None:
    if not has_judge():
        pytest.skip("this build has no judge")
    command = [str(COMMAND), *line.split()]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as ran:
        limit = time.monotonic() + 60
        while not any(tmp_path.iterdir()) and time.monotonic() < limit:
            time.sleep(0.05)
        assert any(tmp_path.iterdir())
        for _ in range(signals):
            ran.send_signal(signal.SIGINT)
            time.sleep(0.02)
        said = ran.communicate(timeout=60)[1].decode()
    assert ran.returncode == 130, said
    assert "error[cancelled]" in said
    assert list(tmp_path.iterdir()) == []
