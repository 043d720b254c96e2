"""Golden tests of the command line: its exact output and exit code for each command line of cases.py."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.cli.cases import CASES, FED, JUDGED
from tests.codes.graphs import has_judge

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).parent / "golden"
COMMAND = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build")) / "touchstone"
ALL = CASES | JUDGED
EXIT_CODES = {0, 1, 2, 3, 4, 6, 7}  # no crash (5, a signal), no defect (70)


def touchstone(line: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {key: text for key, text in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    environment |= {
        "POCL_CACHE_DIR": str(COMMAND.parent / "pocl"),  # what an OpenCL device compiles
        "POCL_SIGFPE_HANDLER": "0",  # it would hide divisions by 0 of this process
        "TOUCHSTONE_ISA": "sse41",  # in the names of kernels: every processor has it
        **more,
    }
    return subprocess.run(
        [COMMAND, *shlex.split(line)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("name", ALL)
def test_golden(name: str, folder: Path, request: pytest.FixtureRequest) -> None:
    if name in JUDGED and not has_judge():
        pytest.skip("this build has no judge")
    ran = touchstone(ALL[name], folder)
    told = f"$ touchstone {ALL[name]}\n{ran.stdout}--- stderr\n{ran.stderr}--- exit {ran.returncode}\n"
    assert ran.returncode in EXIT_CODES, told
    golden = GOLDEN / f"{name}.txt"
    if request.config.getoption("--update"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(told, encoding="utf-8")
    assert golden.exists(), f"no golden file; --update writes it:\n{told}"
    assert told == golden.read_text(encoding="utf-8")


@pytest.mark.skipif(not has_judge(), reason="this build has no fast executor")
def test_a_device_that_is_not_there_is_named_and_nothing_runs_elsewhere(folder: Path) -> None:
    (folder / "no_drivers").mkdir(exist_ok=True)
    line = "run add.onnx --input x=x.npy --input b=b.npy --runtime fast --device opencl,cpu"
    ran = touchstone(line, folder, OCL_ICD_VENDORS=str(folder / "no_drivers"))
    assert (ran.returncode, ran.stdout) == (4, "")
    assert "the device opencl is not here: no driver is installed for it" in ran.stderr


@pytest.mark.skipif(not has_judge(), reason="this build has no fast executor")
def test_placement_is_part_of_the_object(folder: Path) -> None:
    ran = touchstone(f"{FED} --input b=b.npy --runtime fast --placement --json", folder)
    placed = json.loads(ran.stdout)["placement"]  # nothing else is on stdout
    assert [step["nodes"] for step in placed["steps"]][-1] == ["'sum' (Add)"]
    assert placed["arena_bytes"] > 0 and placed["device"] == "cpu"
    (node,) = placed["kernels"]["nodes"]
    assert (node["node"], node["version"], node["class"], node["kind"]) == (
        "'sum' (Add)",
        "Add-13",
        "tuned",
        "pointwise",
    )
    assert "why" not in node and "microseconds" not in node
    assert placed["kernels"]["counts"] == {"tuned": 1, "generic": 0, "reference": 0, "view": 0, "folded": 0}


@pytest.mark.skipif(not has_judge(), reason="this build has no fast executor")
def test_slow_nodes_are_named_with_their_share(folder: Path) -> None:
    ran = touchstone("run slow.onnx --input x=x.npy --runtime fast --warn-slow --json slow.json", folder)
    assert ran.returncode == 0
    head, row, last = ran.stderr.splitlines()
    assert re.fullmatch(r"warning: 1 node ran on reference kernels, \d+\.\d % of the time", head)
    assert re.fullmatch(r" +\d+\.\d %  'norm' \(LpNormalization\): no fast kernel for double, only for float", row)
    assert "docs/kernels.md" in last
    (slow,) = json.loads((folder / "slow.json").read_text())["slow"]
    assert slow["node"] == "'norm' (LpNormalization)" and slow["version"] == "LpNormalization-1"
    assert 0 < slow["share"] <= 1


def test_every_golden_file_has_a_case() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(ALL)


def test_every_truncation_is_an_error_and_no_crash(folder: Path) -> None:
    whole = (folder / "add.onnx").read_bytes()
    for length in range(0, len(whole), 7):
        (folder / "cut.onnx").write_bytes(whole[:length])
        assert touchstone("check cut.onnx", folder).returncode in (0, 3, 4), length


def test_outputs_are_written_as_numpy_reads_them(folder: Path) -> None:
    assert touchstone("run add.onnx --input x=x.npy --input b=b.npy --output-dir written", folder).returncode == 0
    expected = np.load(folder / "x.npy") + np.load(folder / "b.npy")
    assert np.array_equal(np.load(folder / "written" / "output_0.npy"), expected)


def test_taps_name_every_value_of_every_node(folder: Path) -> None:
    assert touchstone("run add.onnx --input x=x.npy --input b=b.npy --tap tapped", folder).returncode == 0
    taps = json.loads((folder / "tapped" / "taps.json").read_text())
    assert taps["schema"] == "touchstone.taps/1"
    assert [node["node"] for node in taps["nodes"]] == ["sum"]
    values = json.loads((folder / "tapped" / "values.json").read_text())
    assert set(values) == {"x", "b", "y"}
    for file in values.values():
        assert (folder / "tapped" / file).is_file()


def test_json_goes_to_a_file(folder: Path) -> None:
    ran = touchstone("show add.onnx --json shown.json", folder)
    assert ran.returncode == 0
    assert json.loads((folder / "shown.json").read_text())["schema"] == "touchstone.show/1"


def test_what_is_optimized_gives_the_same(folder: Path) -> None:
    assert touchstone("optimize wasteful.onnx -o better.onnx", folder).returncode == 0
    for name in ("wasteful", "better"):
        assert touchstone(f"run {name}.onnx --input x=x.npy --output-dir {name}", folder).returncode == 0
    made = [np.load(folder / name / "output_0.npy") for name in ("wasteful", "better")]
    assert np.array_equal(made[0], made[1])


def test_all_versions_are_listed(folder: Path) -> None:
    listed = json.loads(touchstone("spec --list --json", folder).stdout)
    assert listed["schema"] == "touchstone.spec/1"
    assert len(listed["versions"]) == 659
    keys = {"domain", "op", "since", "kind", "form", "deprecated", "witnesses"}
    assert all(set(version) == keys for version in listed["versions"])


def test_two_opsets_show_two_definitions(folder: Path) -> None:
    old, new = (touchstone(f"spec Softmax --opset {opset}", folder).stdout for opset in (11, 13))
    assert old.startswith("Softmax-11 ")
    assert new.startswith("Softmax-13 ")
    body = [text.split("semantics", 1)[1].split("versions", 1)[0] for text in (old, new)]
    assert body[0] != body[1]
