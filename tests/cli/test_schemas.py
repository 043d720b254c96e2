"""Every kind of --json object fits its schema in tools/touchstone/schemas, which names all of its keys."""

from __future__ import annotations

import copy
import json
import re
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.test_golden import ROOT, touchstone
from tests.codes.graphs import has_judge

FOLDER = ROOT / "tools" / "touchstone" / "schemas"
SCHEMAS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
LINES = {
    "--version --json": "version",
    "run missing.onnx --json": "error",
    "frobnicate --json": "error",
    "run add.onnx --input x=x.npy --input b=b.npy --json": "run",
    "check add.onnx --json": "check",
    "check cyclic.onnx --json": "check",
    "show add.onnx --nodes --json": "show",
    "show described.onnx --json": "show",
    "spec --list --json": "spec",
    "spec Clip --json": "definition",
    "spec If --json": "definition",
    "convert squeezed.onnx --opset 13 --json": "convert",
    "optimize add.onnx -o schema_better.onnx --json": "optimize",
    "optimize add.onnx -o schema_better.onnx --save-shapes --json": "optimize",
    "optimize --list --json": "passes",
}
JUDGED = {
    "run slow.onnx --random --runtime fast --placement --warn-slow --json": "run",
    "run add.onnx --test-data judged --json": "run",
    "show slow.onnx --kernels --dims batch=2 --json": "show",
    "doctor --json": "doctor",
    "bundle --models add.onnx --dims batch=2 -o bundled_json --json": "bundle",
    "judge add.onnx --test-data judged --json": "judge",
    "conform --target reference --suite spec --filter 'Relu-14*' --first 3 --jobs 1 --json": "conform",
    "conform --target fast --suite spec --filter 'Relu-14*' --first 3 --jobs 1 --json": "conform",
    "compare add.onnx --left reference --right fast --input x=x.npy --input b=b.npy --json": "compare",
    "bench add.onnx --seconds 0.01 --loads 1 --threads 1 --against reference --json": "bench",
    'reduce "Relu-14(*float[3]{-1.5,0,2.5})" --target fast --json': "reduce",
    "fuzz --target fast --count 5 --dir schema_fuzz --json": "fuzz",
}


def closed(schema: Any) -> Any:
    """Returns the schema with objects that have no other keys than the named ones."""
    made = copy.deepcopy(schema)

    def close(part: Any) -> None:
        if isinstance(part, dict):
            if "properties" in part and isinstance(part["properties"], dict):
                part.setdefault("additionalProperties", False)
            for each in part.values():
                close(each)
        elif isinstance(part, list):
            for each in part:
                close(each)

    close(made)
    return made


@pytest.fixture(scope="module")
def judged(folder: Path) -> Path:
    """The folder of models, with outputs beside inputs in judged/."""
    shutil.copytree(folder / "data", folder / "judged", dirs_exist_ok=True)
    touchstone("run add.onnx --test-data data --output-dir judged", folder)
    return folder


@pytest.mark.parametrize("line", LINES | JUDGED)
def test_an_object_fits_its_schema(line: str, judged: Path) -> None:
    if line in JUDGED and not has_judge():
        pytest.skip("this build has no judge")
    told = json.loads(touchstone(line, judged).stdout)
    kind = (LINES | JUDGED)[line]
    assert told["schema"] == f"touchstone.{kind}/1"
    jsonschema.Draft202012Validator(closed(SCHEMAS[kind])).validate(told)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["title"] == SCHEMAS[name]["properties"]["schema"]["const"] == f"touchstone.{name}/1"
    assert not jsonschema.Draft202012Validator(SCHEMAS[name]).is_valid({"schema": f"touchstone.{name}/1"})


def test_every_object_of_the_command_has_a_schema() -> None:
    """The schemas are those that the sources name, but for files that no --json writes."""
    sources = [*(ROOT / "tools" / "touchstone").glob("*.cc"), ROOT / "conformance/report/json.cc"]
    named = {kind for path in sources for kind in re.findall(r'"touchstone\.([a-z]+)/1"', path.read_text())}
    named |= {"compare", "bench", "fuzz"}  # in folders of their own
    not_of_json = {"trace", "coverage", "taps", "waivers"}
    assert named - not_of_json == set(SCHEMAS)
    assert set(SCHEMAS) <= set(LINES.values()) | set(JUDGED.values())
