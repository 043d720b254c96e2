"""Every type that a version allows runs on the reference, unless a rule of its entry is marked `meaningless`.

Each type variable of each version takes each of its types in turn, in a node made from a literal case (variants.py). A
refusal may be due to the node's numbers, so the next node is tried. A type passes with the first node that runs and
gives the declared types.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from codegen.emit_cases import ir_for, load_releases, newest_opset
from codegen.entry import Operator
from codegen.load import load_spec
from codegen.questions import load_notes
from codegen.value_types import to_text
from tests.types.holders import Asked, handing_on
from tests.types.variants import Wanted, bases, declared, named, variants

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
PROGRAM = BUILD / "tests" / "cases" / "run_cases"
MEMORY = Path("/dev/shm")
OPERATORS = load_spec(ROOT / "spec")
NOTES = {note.id: note for note in load_notes(ROOT / "spec", OPERATORS)}
GROUP = re.compile(r"\bin (numbers|strings|booleans)\b")


def asked_of(operator: Operator) -> Iterator[tuple[Wanted, Iterator[Asked]]]:
    releases = load_releases(ROOT / "spec")
    for version in operator.versions:
        if version.deprecated and not version.lived:  # no model may use it
            continue
        opset = newest_opset(operator, version, releases)
        ir = ir_for(operator.domain, opset, releases)
        known = bases(version, opset, ir)
        for variable, types in version.types.items():
            if not any(named(p.type, variable) for p in (*version.inputs, *version.outputs)):
                continue  # a constraint without parameters, such as T1 of Tile-1
            for type_ in types:
                wanted = Wanted(version, variable, type_)
                yield wanted, itertools.chain(handing_on(wanted, opset, ir), variants(wanted, known, opset, ir))


def run(folder: Path, models: dict[str, Asked]) -> dict[str, dict]:
    """The result of each model, by its name."""
    for name, (model, feeds) in models.items():
        data = folder / name / "test_data_set_0"
        data.mkdir(parents=True)
        (folder / name / "model.onnx").write_bytes(model.SerializeToString())
        for position, feed in enumerate(feeds):
            (data / f"input_{position}.pb").write_bytes(feed)
    done = subprocess.run([str(PROGRAM), str(folder)], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    return {row["case"]: row for row in map(json.loads, done.stdout.splitlines())}


@pytest.fixture(scope="session")
def refusals() -> dict[str, list[str]]:
    """For each type that did not run, by Wanted's name: the refusal of each node."""
    waiting = {wanted.name: models for operator in OPERATORS for wanted, models in asked_of(operator)}
    assert len(waiting) > 8000
    why: dict[str, list[str]] = {name: [] for name in waiting}
    while True:
        names = list(waiting)
        tried = {str(k): (name, model) for k, name in enumerate(names) if (model := next(waiting[name], None))}
        if not tried:
            return why
        folder = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None, prefix="touchstone-types-"))
        try:
            rows = run(folder, {key: model for key, (_, model) in tried.items()})
        finally:
            shutil.rmtree(folder)
        for key, (name, model) in tried.items():
            row = rows[key]
            found = [each["type"] for each in row.get("outputs", [])]
            if "outputs" in row and found == [to_text(each) for each in declared(model[0])]:
                del waiting[name], why[name]
            else:
                why[name].append(row.get("rule") or row.get("message", f"gives {found}"))
        for name in set(names) - {name for name, _ in tried.values()}:
            del waiting[name]  # no more nodes to try


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.op)
def test_every_type_runs(operator: Operator, refusals: dict[str, list[str]]) -> None:
    meaningless = {f"{v.name}/{rule.id}" for v in operator.versions for rule in v.rules if rule.meaningless}
    prefix = f"{operator.domain}/{operator.op}-"
    refused = {
        name: reasons
        for name, reasons in refusals.items()
        if name.startswith(prefix) and not (reasons and meaningless.issuperset(reasons))
    }
    assert not refused, "\n".join(
        f"{name}: {sorted(set(reasons))[:3] or 'no case to try'}" for name, reasons in refused.items()
    )


def test_rules_that_refuse_types_have_a_question() -> None:
    for operator in OPERATORS:
        for version in operator.versions:
            for rule in version.rules:
                place = f"{version.name}/{rule.id}"
                assert bool(GROUP.search(rule.that.text)) == bool(rule.meaningless), (
                    f"{place} refuses types: meaningless by?"
                )
                if rule.meaningless:
                    assert version.name in NOTES[rule.meaningless].operators, (
                        f"{rule.meaningless} does not speak of {place}"
                    )
