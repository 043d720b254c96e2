"""Runs the graphs of graphs.py on the reference: each ends well or with the error message that it expects."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cases.graphs import CASES, write

BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", Path(__file__).parents[2] / "build"))


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("graphs")
    write(folder)
    done = subprocess.run([BUILD / "tests" / "cases" / "run_cases", folder], capture_output=True, text=True, check=True)
    return {row["case"]: row for row in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", CASES)
def test_says_what_is_wrong(name: str, rows: dict[str, dict[str, Any]]) -> None:
    assert CASES[name].says in rows[name].get("message", "")
    assert ("outputs" in rows[name]) == (CASES[name].says == "")


def test_a_sparse_constant_is_dense(rows: dict[str, dict[str, Any]]) -> None:
    assert rows["constant_sparse"]["outputs"] == [{"type": "tensor(float)", "shape": [3]}]


@pytest.mark.parametrize("op", ["StringSplit", "StringNormalizer", "RegexFullMatch"])
def test_what_is_no_text_is_refused(op: str, rows: dict[str, dict[str, Any]]) -> None:
    assert rows[f"{op}_of_no_text"]["rule"].startswith(op)


def test_a_map_holds_single_numbers(rows: dict[str, dict[str, Any]]) -> None:
    assert rows["map_of_two_numbers"]["message"] == "a value of the map is not one element of its type"
