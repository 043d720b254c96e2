"""Every finding has its text and a script of at most 20 lines, and the script still shows the fault."""

from __future__ import annotations

import ast
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

from codegen.emit_explanations import Finding, load_findings
from codegen.entry import SpecError
from codegen.facts import load_prose
from codegen.load import load_spec
from tests.spec.test_sentences import shared_runs

ROOT = Path(__file__).parents[2]
HOME = ROOT / "docs" / "findings"
FOLDERS = sorted(file for file in HOME.iterdir() if file.is_dir())
LINES = 20
PEERS = {
    "onnxruntime": "ONNX Runtime 1.31.1",
    "openvino": "OpenVINO 2026.4.1",
    "tvm": "Apache TVM 0.27.0.post1",
    "tract": "tract 0.23.9",
}
RUNTIMES = {**PEERS, "onnx": "ReferenceEvaluator of onnx 1.23.2"}
MODULES = {"numpy", "subprocess", "sys", "tempfile", *RUNTIMES}
PARTS = ["## The clause", "## What it answers", "## What is right, and why"]
VERSIONS = {version.name for operator in load_spec(ROOT / "spec") for version in operator.versions}
PROSE = load_prose()


def name_of(folder: Path) -> str:
    return folder.name


every = pytest.mark.parametrize("folder", FOLDERS, ids=name_of)


def script(folder: Path) -> str:
    return (folder / "reproduce.py").read_text(encoding="utf-8")


def readme(folder: Path) -> str:
    return (folder / "README.md").read_text(encoding="utf-8")


def imports(text: str) -> set[str]:
    """The packages that a script imports."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
    return found


def runtime(folder: Path) -> str:
    return next((name for name in PEERS if name in imports(script(folder))), "onnx")


def faults(text: str) -> list[str]:
    """Lists the violations of a script: too many lines, or imports other than the runtime and its helpers."""
    found = [f"{text.count(chr(10))} lines, over {LINES}"] if text.count("\n") > LINES else []
    return found + [f"imports {name}" for name in sorted(imports(text) - MODULES)]


def shows(output: str, code: int | None) -> bool:
    """True if a script shows its fault: exit code 1, which a crash gives as well, and both printed lines."""
    return code == 1 and re.search(r"^got\s+\S.*^right\s+\S", output, re.MULTILINE | re.DOTALL) is not None


def test_numbers_have_no_gaps_and_ten_are_there() -> None:
    assert [folder.name[:4] for folder in FOLDERS] == [f"{k:03}-" for k in range(1, len(FOLDERS) + 1)]
    assert len(FOLDERS) >= 10


@every
def test_a_script_is_short_and_needs_the_runtime_only(folder: Path) -> None:
    assert {file.name for file in folder.iterdir()} == {"README.md", "reproduce.py"}
    assert faults(script(folder)) == []


@every
def test_a_text_has_its_parts(folder: Path) -> None:
    text = readme(folder)
    assert text.startswith(f"# {folder.name[:3]} ")
    assert f"\n- Runtime: {RUNTIMES[runtime(folder)]}\n" in text
    operator = re.search(r"^- Operator: (\w+-\d+)\b", text, re.MULTILINE)
    assert operator and operator.group(1) in VERSIONS
    assert re.search(r"^- Severity: \S", text, re.MULTILINE)
    near = re.search(r"^- Near to: (.+)$", text, re.MULTILINE)
    assert near
    for question in re.findall(r"\bQ\d{3}\b", near.group(1)):
        assert list((ROOT / "spec/questions").glob(f"{question}-*.md")), question
    assert [line for line in text.splitlines() if line.startswith("## ")] == PARTS


def test_cases_that_a_finding_explains_are_in_the_pinned_suite() -> None:
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "touchstone" / "suites"
    cases = {file.parent.name for file in (home / onnx.__version__).rglob("model.onnx")}
    findings = load_findings(ROOT)
    assert cases and findings
    for one in findings:
        assert set(one.cases) <= cases, one.id


def test_the_cases_of_a_finding_are_those_of_its_runtime(tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "findings" / "001-a"
    folder.mkdir(parents=True)
    head = (
        "# 001 A title\n\n- Runtime: {}\n- Operator: Max-13\n- Cases: test_a, `test_b`,\n  test_c\n"
        "- Outcomes: error/crash, wrong-value/open\n- Near to: None.\n"
    )
    (folder / "README.md").write_text(head.format("ONNX Runtime 1.31.1"), encoding="utf-8")
    named, outcomes = ["test_a", "test_b", "test_c"], ["error/crash", "wrong-value/open"]
    assert load_findings(tmp_path) == [Finding("F001", "A title", "onnxruntime", named, outcomes)]
    (folder / "README.md").write_text(head.format("Another 1"), encoding="utf-8")
    with pytest.raises(SpecError, match="the runtime is one of"):
        load_findings(tmp_path)
    for wrong in ("", "- Outcomes: crash\n"):
        text = head.format("ONNX Runtime 1.31.1").replace("- Outcomes: error/crash, wrong-value/open\n", wrong)
        (folder / "README.md").write_text(text, encoding="utf-8")
        with pytest.raises(SpecError, match="an outcome is COMPAT/VERDICT"):
            load_findings(tmp_path)


@every
def test_its_sentences_are_ours(folder: Path) -> None:
    of = {name.rsplit("-", 1)[0] for name in re.findall(r"\b\w+-\d+\b", readme(folder)) if name in VERSIONS}
    texts = [text for (_, op), versions in PROSE.items() if op in of for text in versions]
    assert texts
    assert sorted({run for text in texts for run in shared_runs(readme(folder), text)}) == []


@every
def test_the_table_names_it(folder: Path) -> None:
    row = f"| [{folder.name[:3]}]({folder.name}/README.md) | {RUNTIMES[runtime(folder)]} | "
    assert (HOME / "README.md").read_text(encoding="utf-8").count(row) == 1


@pytest.mark.parametrize("folder", [each for each in FOLDERS if runtime(each) == "onnx"], ids=name_of)
def test_the_evaluator_still_has_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(folder / "reproduce.py"), run_name="__main__")
    output = capsys.readouterr().out
    assert shows(output, ended.value.code), f"exit code {ended.value.code}: {output}"


@pytest.mark.parametrize("folder", [each for each in FOLDERS if runtime(each) in PEERS], ids=name_of)
def test_a_peer_still_has_it(folder: Path) -> None:
    peer = ROOT / f".venv-{runtime(folder)}" / "bin" / "python"
    if not peer.exists():
        pytest.skip(f"{runtime(folder)} is not installed")
    command = [peer, folder / "reproduce.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert shows(done.stdout, done.returncode), f"exit code {done.returncode}: {done.stdout}{done.stderr}"


def test_a_script_that_is_long_or_imports_more_is_refused() -> None:
    assert faults("import sys\n" * LINES) == []
    assert faults("import sys\n" * (LINES + 1)) == ["21 lines, over 20"]
    assert faults("from tools.touchstone import run\nimport onnx.parser\n") == ["imports tools"]


@pytest.mark.parametrize(
    ("code", "output"),
    [(0, "got   1\nright 1\n"), (None, "got   1\nright 2\n"), (1, ""), (1, "got   1\n"), (139, "got   1\nright 2\n")],
)
def test_a_fault_that_is_mended_or_a_script_that_breaks_off_shows_nothing(code: int | None, output: str) -> None:
    assert not shows(output, code)
    assert shows("got   1\nright 2\n", 1)


def test_a_mended_fault_is_seen(tmp_path: Path) -> None:
    """A script shows no fault if the expected value is set to the runtime's own."""
    folder = next(each for each in FOLDERS if runtime(each) == "onnx")
    text = script(folder).replace("\nprint(", "\nright = got\nprint(", 1)
    assert text != script(folder)
    (tmp_path / "reproduce.py").write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, tmp_path / "reproduce.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
