"""The table of ONNX Runtime's names: none is missing, every state is true, and the page shows them."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
from collections import Counter
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest
import touchstone
from touchstone import compat
from touchstone.options import Setting

from tests.python.built import ENVIRONMENT, ONNXRUNTIME
from tests.python.write_page import PAGE

# Prints the public names of the installed module and of its classes, its enumerations and its exceptions. Adds the
# parameters of functions that are written in Python.
INTROSPECT = """
import enum, inspect, json, onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as state

def public(owner):
    return [name for name in dir(owner) if not name.startswith("_")]

def parameters(found):
    if not inspect.isfunction(found) and not inspect.ismethod(found):
        return None
    return [(each.name, each.kind.value) for each in inspect.signature(found).parameters.values()]

classes = ["InferenceSession", "SessionOptions", "RunOptions", "IOBinding", "OrtValue"]
owners = {name: getattr(ort, name) for name in classes} | {"onnxruntime": ort}
module = [name for name in public(ort) if name == "capi" or not inspect.ismodule(getattr(ort, name))]
names = {name: public(owner) for name, owner in owners.items()} | {"onnxruntime": module}
members = {
    name: {key: int(value) for key, value in getattr(ort, name).__members__.items()}
    for name in module if hasattr(getattr(ort, name), "__members__")
}
print(json.dumps({
    "version": ort.__version__,
    "names": names,
    "members": members,
    "exceptions": [n for n in public(state) if isinstance(c := getattr(state, n), type) and issubclass(c, Exception)],
    "parameters": {f"{o}.{n}": parameters(getattr(owners[o], n)) for o in owners for n in names[o]},
}))
"""
ROWS = compat.table()


@pytest.fixture(scope="module")
def installed() -> dict[str, Any]:
    done = subprocess.run(
        [str(ONNXRUNTIME), "-c", INTROSPECT], capture_output=True, text=True, timeout=300, env=ENVIRONMENT
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_no_name_of_the_installed_wheel_is_missing(installed: dict[str, Any]) -> None:
    assert installed["version"] == compat.ONNXRUNTIME
    listed = {owner: sorted(names.split()) for owner, names in compat.NAMES.items()}
    assert listed == {owner: sorted(names) for owner, names in installed["names"].items()}


def test_enumerations_have_the_same_members(installed: dict[str, Any]) -> None:
    assert len(installed["members"]) >= 10
    for name, members in installed["members"].items():
        ours = getattr(touchstone, name)
        assert issubclass(ours, IntEnum)
        assert {key: int(value) for key, value in ours.__members__.items()} == members, name


def test_exceptions_have_the_same_names(installed: dict[str, Any]) -> None:
    from touchstone.capi import onnxruntime_pybind11_state as state

    assert len(installed["exceptions"]) >= 10
    for name in installed["exceptions"]:
        assert issubclass(getattr(state, name), touchstone.Error), name


def test_parameters_have_the_same_names_and_places(installed: dict[str, Any]) -> None:
    """Holds for functions of the wheel that are written in Python, unless their class is refused."""
    compared = 0
    refused = {row.name for row in ROWS if row.state == "refused"}
    for key, theirs in installed["parameters"].items():
        owner, _, name = key.partition(".")
        if theirs is None or name in refused:
            continue
        found = getattr(touchstone if owner == "onnxruntime" else getattr(touchstone, owner), name)
        ours = list(inspect.signature(found).parameters.values())
        assert len(ours) >= len(theirs), key
        for place, (wanted, kind) in enumerate(theirs):
            assert (ours[place].name, ours[place].kind.value) == (wanted, kind), key
        assert all(each.default is not inspect.Parameter.empty for each in ours[len(theirs) :]), key
        compared += 1
    assert compared >= 50


def used_names() -> Counter[str]:
    """Counts attributes, keywords and words of strings in the tests of this folder, this file apart."""
    found: Counter[str] = Counter()
    for path in Path(__file__).parent.glob("test_*.py"):
        if path == Path(__file__):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                found[node.attr] += 1
            elif isinstance(node, ast.keyword) and node.arg:
                found[node.arg] += 1
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.update(node.value.split())
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.update(node.module.split("."))
            elif isinstance(node, ast.alias):
                found.update(node.name.split("."))
    return found


def test_every_name_is_used_in_a_test() -> None:
    used = used_names()
    assert [f"{row.owner}.{row.name}" for row in ROWS if not used[row.name]] == []


def holder_of(owner: str) -> Any:
    """An object whose methods are called."""
    if owner == "OrtValue":
        return touchstone.OrtValue.ortvalue_from_shape_and_type([1], 1)
    return touchstone if owner == "onnxruntime" else getattr(touchstone, owner)()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.owner}.{row.name}")
def test_a_state_is_that_of_the_object(row: compat.Row) -> None:
    found = getattr(touchstone if row.owner == "onnxruntime" else getattr(touchstone, row.owner), row.name)
    assert row.state in compat.STATES and (row.note or row.state == "works")
    if isinstance(found, Setting):
        assert row.state == ("accepted" if found.idle else "works")
        assert row.state == "works" or found.default is not None
    if row.state == "refused":
        found = getattr(holder_of(row.owner), row.name)
        required = [
            each
            for each in inspect.signature(found).parameters.values()
            if each.default is inspect.Parameter.empty and each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        ]
        with pytest.raises(touchstone.Error) as caught:
            found(*("x" for _ in required))
        assert caught.value.kind in ("unsupported", "usage")


def test_most_names_work_or_are_accepted() -> None:
    classes = [row for row in ROWS if row.owner != "onnxruntime"]
    for rows in (ROWS, classes):
        assert sum(row.state != "refused" for row in rows) >= 0.9 * len(rows)


def test_the_page_shows_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == compat.page(), "python -m tests.python.write_page"
