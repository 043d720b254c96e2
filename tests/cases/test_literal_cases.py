"""Every literal case of every entry, on the reference: outputs computed by hand equal those of the definitions.

Equality bit for bit passes. Otherwise the judge must accept both the case's values and the reference's in class strict.
A build without the judge (sanitized) runs every case and checks types and shapes only.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import onnx
import pytest

from codegen.emit_cases import Case, all_cases, emit, load_releases
from codegen.entry import Operator
from codegen.load import load_spec

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
BINARY = BUILD / "touchstone"
PASSES = ("exact", "within", "in-set")
OPERATORS = load_spec(ROOT / "spec")
CASES = list(all_cases(OPERATORS, load_releases(ROOT / "spec")))
POSITIVE = [case for case in CASES if not case.raises]
NEGATIVE = [case for case in CASES if case.raises]


def touchstone(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [str(word) for word in (BINARY, *arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


@pytest.fixture(scope="session")
def folder() -> Path:
    """Emits the cases into the build folder and returns that folder."""
    out = BUILD / "cases"
    emit(OPERATORS, load_releases(ROOT / "spec"), out)
    return out


@pytest.fixture(scope="session")
def has_judge() -> bool:
    return "asan" not in BUILD.name and "conform" in touchstone("--help").stdout


@pytest.fixture(scope="session")
def results(folder: Path, has_judge: bool) -> dict[str, dict[str, Any]]:
    """The reference's result for each case, keyed by case folder; empty if the build has no judge."""
    if not has_judge:
        return {}
    report = BUILD / "cases" / "results.json"
    report.unlink(missing_ok=True)
    done = touchstone("conform", "--target", "reference", "--suite", folder / "positive", "--json", report)
    assert report.is_file(), done.stderr
    (run,) = json.loads(report.read_text(encoding="utf-8"))["runs"]
    return {f"{row['kind']}/{row['name']}": row for row in run["cases"]}


def run_all(folder: Path) -> dict[str, dict[str, Any]]:
    """One row per case below `folder`, keyed by name. A row '' holds the exit code and stderr if the program failed."""
    program = [str(BUILD / "tests" / "cases" / "run_cases"), str(folder)]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=600)
    rows = {row["case"]: row for row in map(json.loads, done.stdout.splitlines())}
    return rows | ({"": {"code": done.returncode, "stderr": done.stderr[-4000:]}} if done.returncode else {})


@pytest.fixture(scope="session")
def refused(folder: Path) -> dict[str, dict[str, Any]]:
    return run_all(folder / "negative")


@pytest.fixture(scope="session")
def ran(folder: Path, has_judge: bool) -> dict[str, dict[str, Any]]:
    return {} if has_judge else run_all(folder / "positive")


def judged_strictly(case: Path) -> tuple[str, str]:
    done = touchstone(
        "judge", case / "model.onnx", "--test-data", case / "test_data_set_0", "--class", "strict", "--json"
    )
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    return found["verdict"], found["detail"] or json.dumps(found["outputs"])


def id_of(case: Case) -> str:
    return f"{case.version.name}/{case.name}"


@pytest.mark.parametrize("case", POSITIVE, ids=id_of)
def test_case(
    case: Case, folder: Path, has_judge: bool, results: dict[str, dict[str, Any]], ran: dict[str, dict[str, Any]]
) -> None:
    place = folder / "positive" / case.folder
    if not has_judge:
        runs_with_the_right_types(case, ran)
        return
    found = results[case.folder]
    assert found["verdict"] not in ("unsupported", "harness", "timeout", "crash"), found["detail"]
    if found["compat"] == "pass":  # equal in every bit, without the suite's tolerance
        return
    assert found["verdict"] in PASSES, f"the reference is {found['verdict']}: {found['detail']}"
    verdict, detail = judged_strictly(place)
    assert verdict in PASSES, f"the case itself is {verdict}: {detail}"


def runs_with_the_right_types(case: Case, ran: dict[str, dict[str, Any]]) -> None:
    done = of(case, ran)
    assert "outputs" in done, done
    for info, expected, given in zip(case.model.graph.output, case.outputs, done["outputs"], strict=True):
        if info.type.HasField("tensor_type"):
            tensor = onnx.TensorProto.FromString(expected)
            name = onnx.TensorProto.DataType.Name(tensor.data_type).lower()
            assert (given["type"], given["shape"]) == (f"tensor({name})", list(tensor.dims))


def of(case: Case, ran: dict[str, dict[str, Any]]) -> dict[str, Any]:
    assert case.folder in ran, f"run_cases ended before this case: {ran.get('', 'no word of why')}"
    return ran[case.folder]


@pytest.mark.parametrize("case", NEGATIVE, ids=id_of)
def test_negative_case(case: Case, refused: dict[str, dict[str, Any]]) -> None:
    done = of(case, refused)
    assert done.get("exit") == 3, done
    rule = re.escape(case.raises) if "/" in case.raises else rf"{case.version.op}-\d+/{case.raises}"
    assert re.fullmatch(rule, done["rule"]), done


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.op)
def test_each_meaning_has_a_case(operator: Operator) -> None:
    """Every distinct semantics of an operator has a positive case, so that no change of semantics goes unchecked."""
    with_case: dict[int, int] = defaultdict(int)
    for case in POSITIVE:
        if case.version.op == operator.op and case.version.domain == operator.domain:
            with_case[case.version.meaning_of] += 1
    meanings = {version.meaning_of for version in operator.versions if version.kind in ("semantics", "function")}
    assert sorted(meanings - with_case.keys()) == []
