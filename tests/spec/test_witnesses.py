"""Every version has a witness that is independent of its entry, and the witnesses in spec/witnesses.json exist."""

from __future__ import annotations

import os
import re
from pathlib import Path

import onnx
import pytest

from codegen.entry import Operator
from codegen.witnesses import CASE, KINDS, Found, found_text, key, load_found, witnesses
from tests.witnessed import in_force

ROOT = Path(__file__).parents[2]
SUITES = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "touchstone" / "suites"
PINNED = onnx.__version__


@pytest.fixture(scope="module")
def found() -> Found:
    return load_found(ROOT / "spec")


def test_every_version_has_one(operators: list[Operator], found: Found) -> None:
    seen = witnesses(operators, found)
    assert len(seen) == 659
    assert [name for name, each in seen.items() if not each] == []
    assert all(witness.kind in KINDS and witness.count > 0 for each in seen.values() for witness in each)


def test_the_file_is_of_versions_and_in_order(operators: list[Operator], found: Found) -> None:
    known = {key(version) for operator in operators for version in operator.versions}
    assert sorted(found.keys() - known) == []
    assert not any(witness.kind == CASE for each in found.values() for witness in each), (
        "cases are counted in the entry"
    )
    assert (ROOT / "spec" / "witnesses.json").read_text(encoding="utf-8") == found_text(found)


def test_every_test_that_it_names_is_there(found: Found) -> None:
    named = {w.first for each in found.values() for w in each if w.first.startswith("tests/")}
    for name in sorted(named):
        file, _, test = name.partition("::")
        assert re.search(rf"^def {test}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), name


def test_every_case_of_a_suite_that_it_names_is_of_the_version(found: Found) -> None:
    """Checks cases of the releases whose suites this machine has, the pinned one among them."""
    looked_at = set()
    for name, rows in found.items():
        for witness in rows:
            release = witness.first.split("/")[0]
            if witness.kind != "suite" or not (SUITES / release).is_dir():
                continue
            model = onnx.load(SUITES / witness.first / "model.onnx", load_external_data=False)
            (node,) = model.graph.node
            opsets = {one.domain: one.version for one in model.opset_import}
            assert in_force(node.op_type, opsets[node.domain], node.domain) == name, witness.first
            looked_at.add(release)
    assert PINNED in looked_at


def test_a_version_without_one_is_found(operators: list[Operator], found: Found) -> None:
    some = next(v for operator in operators for v in operator.versions if v.deprecated and not v.lived)
    assert witnesses(operators, found)[key(some)]
    assert witnesses(operators, {name: rows for name, rows in found.items() if name != key(some)})[key(some)] == []
