"""The lines of the spec suite: each is what it says, none is there twice, every version, type and rule has its own.

What is short of that stands in short.yaml, with the reason, and nothing that is not short does.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from codegen.entry import Version
from codegen.load import load_spec
from tests.lines.pick import LEAST, features, ports_of, types_in
from tests.lines.probe import outcomes
from tests.lines.seeds import line_name, seeds_of
from tests.lines.vary import candidates

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
PROBE = BUILD / "tests" / "lines" / "lines_probe"
SUITE = ROOT / "conformance" / "suites" / "spec"
SAMPLE = 1500
OPERATORS = load_spec(ROOT / "spec")
LINES = [line for file in sorted(SUITE.rglob("*.cases")) for line in file.read_text(encoding="utf-8").splitlines()]
SHORT = yaml.safe_load((Path(__file__).parent / "short.yaml").read_text(encoding="utf-8"))


def versions() -> Iterator[Version]:
    """Those that a model can use."""
    for operator in OPERATORS:
        yield from (v for v in operator.versions if v.kind != "none" and (v.lived or not v.deprecated))


def rule_of(line: str) -> str:
    _, mark, rule = line.rpartition(" !")
    return rule if mark and '"' not in rule else ""


def without_rule(line: str) -> str:
    return line[: line.rindex(" !")] if rule_of(line) else line


@pytest.fixture(scope="session")
def rows() -> list[dict[str, Any]]:
    return outcomes(PROBE, map(without_rule, LINES))


def test_no_case_is_there_twice() -> None:
    assert [line for line, times in Counter(map(without_rule, LINES)).items() if times > 1] == []


def test_there_are_as_many_as_promised() -> None:
    assert len(LINES) >= 20_000


def test_the_definition_takes_what_is_valid_and_refuses_the_rest_by_the_rule(rows: list[dict[str, Any]]) -> None:
    both = zip(LINES, rows, strict=True)
    assert [f"{line}: {row}" for line, row in both if row.get("rule") != rule_of(line)] == []


def short_of(rows: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Version -> types of which it has fewer than three cases, and rules that no case breaks."""
    known = {line_name(version): version for version in versions()}
    types: dict[str, Counter[tuple[str, str]]] = {name: Counter() for name in known}
    broken: dict[str, set[str]] = {name: set() for name in known}
    for line, row in zip(LINES, rows, strict=True):
        name = line.partition("(")[0]
        if name not in known:
            continue
        if rule_of(line):
            broken[name].add(rule_of(line).rpartition("/")[2])
        else:
            types[name].update(types_in(known[name], line, row["types"]))
    short = {}
    for name, version in known.items():
        few = {f"{c} {t}" for c, allowed in version.types.items() for t in allowed if types[name][c, t] < LEAST}
        short[name] = few | {rule.id for rule in version.rules if rule.id not in broken[name]}
    return {name: few for name, few in short.items() if few}


def test_every_version_has_three_of_each_type_and_a_breach_of_each_rule(rows: list[dict[str, Any]]) -> None:
    said: dict[str, set[str]] = {}
    for reason in SHORT:
        assert reason["why"]
        for name, few in reason["of"].items():
            said.setdefault(name, set()).update(few)
    assert short_of(rows) == said


def test_a_sample_of_them_is_right_on_the_reference(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    command = [BUILD / "touchstone", "conform", "--target", "reference", "--suite", "spec", "--runs", "1"]
    command += ["--first", str(SAMPLE), "--json", report]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    (run,) = json.loads(report.read_text(encoding="utf-8"))["runs"]
    judged = Counter(case["verdict"] for case in run["cases"])
    assert done.returncode == 0, done.stderr[-4000:]
    assert sum(judged.values()) == SAMPLE
    assert sum(judged[verdict] for verdict in ("exact", "within", "in-set", "profile")) >= 0.85 * SAMPLE, judged


def test_lines_are_what_the_entries_give() -> None:
    """Of one operator: valid lines are variations of its literal cases, as they are today."""
    (clip,) = [operator for operator in OPERATORS if operator.op == "Clip"]
    for version in clip.versions:
        made = set(candidates(version, seeds_of(clip, version), widely=True))
        own = [line for line in LINES if line.startswith(f"{version.name}(") and not rule_of(line)]
        assert own
        assert [line for line in own if line not in made] == []


def test_what_stands_in_a_line_is_found() -> None:
    line = 'LSTM-14(float[1,2]{1,2}, *float[0]~real, _, seq(tensor(float)){float[1]{1}}) mode="a b" k=[1,2] -> x_x'
    assert ports_of(line) == ["float[1,2]{1,2}", "*float[0]~real", "_", "seq(tensor(float)){float[1]{1}}"]
    assert {"attribute k=[1,2]", "outputs x_x", "1 held True", "1 has 0", "0 rank 2"} <= features(line)
