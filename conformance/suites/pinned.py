"""Writes the suite of the installed onnx package: node cases exist there only as code, the rest as files or code."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx.backend.test.case.model import collect_testcases
from onnx.backend.test.case.test_case import TestCase
from onnx.backend.test.loader import load_model_tests

from conformance.suites.folders import CaseFacts, write_case, write_facts
from conformance.suites.light import FOLDER, write_light_case

FILE_KINDS = ("simple", "pytorch-converted", "pytorch-operator")


def facts_of(case: TestCase, source: str) -> CaseFacts:
    return CaseFacts(case.name, case.kind, f"onnx {onnx.__version__}, {source}", case.rtol, case.atol)


def copy_case(root: Path, case: TestCase, source: str) -> None:
    folder = root / case.kind / case.name
    shutil.copytree(str(case.model_dir), folder, ignore=shutil.ignore_patterns("*.py", "*.pyc", "__pycache__"))
    for path in folder.rglob("*"):  # a wheel's file modes depend on the installer
        path.chmod(0o755 if path.is_dir() else 0o644)
    write_facts(folder, facts_of(case, source))


def make(root: Path) -> None:
    np.random.seed(0)  # cases seed themselves; this covers code between them
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # cases divide by zero on purpose
        node_cases = load_model_tests(kind="node")
        coded_cases = collect_testcases()
    for case in node_cases:
        write_case(root, facts_of(case, "onnx.backend.test.case.node"), case.model, case.data_sets)
    for kind in FILE_KINDS:
        for case in load_model_tests(kind=kind):
            copy_case(root, case, f"onnx/backend/test/data/{kind}/{case.name}")
    data = Path(onnx.__file__).parent.parent
    for case in coded_cases:
        if case.kind == "real":
            if not case.url.startswith(FOLDER) or not write_light_case(root, facts_of(case, case.url), data / case.url):
                raise FileNotFoundError(f"{case.url} of case {case.name}: the onnx package does not hold it")
        elif not (root / case.kind / case.name).exists():
            write_case(root, facts_of(case, "onnx.backend.test.case.model"), case.model, case.data_sets)
