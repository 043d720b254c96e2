"""The lines of the spec suite are right, distinct, and cover every version, type and rule.

short.yaml lists the gaps with the reason, and nothing else. Each valid line kills a mutant that no earlier line kills,
or reaches a block that no earlier line reaches.
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

from codegen.entry import Operator, Version
from codegen.load import load_spec
from conformance.suites.spec_lines import suite_lines
from tests.lines.pick import MIN, PASSES, features, meaningless, ports_of, rule_of, types_in, without_rule
from tests.lines.plainer import plainer
from tests.lines.probe import outcomes
from tests.lines.seeds import line_name, seeds_of
from tests.lines.vary import candidates
from tests.lines.worth import asked, listed, worth

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
PROBE = BUILD / "tests" / "lines" / "lines_probe"
SAMPLE = 1500
EACH = 4  # one of so many operators has each line's purpose checked
OPERATORS = load_spec(ROOT / "spec")
LINES = suite_lines()
SHORT = yaml.safe_load((Path(__file__).parent / "short.yaml").read_text(encoding="utf-8"))


def versions() -> Iterator[Version]:
    """The versions that a model can use."""
    for operator in OPERATORS:
        yield from (v for v in operator.versions if v.kind != "none" and (v.lived or not v.deprecated))


@pytest.fixture(scope="session")
def rows() -> list[dict[str, Any]]:
    return outcomes(PROBE, map(without_rule, LINES))


def test_no_case_is_there_twice() -> None:
    assert [line for line, times in Counter(map(without_rule, LINES)).items() if times > 1] == []


def test_no_valid_line_says_a_number_that_means_nothing() -> None:
    known = {line_name(version): version for version in versions()}
    valid = [line for line in LINES if not rule_of(line) and line.partition("(")[0] in known]
    assert [line for line in valid if meaningless(known[line.partition("(")[0]], line)] == []
    line = "ReduceSum-13(float[2]{1}, int64[1]{0}) noop_with_empty_axes=1 keepdims=2"
    assert meaningless(known["ReduceSum-13"], line) == ["keepdims=2"]


def test_there_are_as_many_as_promised() -> None:
    assert len(LINES) >= 20_000


def test_the_definition_takes_what_is_valid_and_refuses_the_rest_by_the_rule(rows: list[dict[str, Any]]) -> None:
    both = zip(LINES, rows, strict=True)
    assert [f"{line}: {row}" for line, row in both if row.get("rule") != rule_of(line)] == []


def short_of(rows: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Version -> types of which it has fewer than three cases, and rules that no case violates."""
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
        few = {f"{c} {t}" for c, allowed in version.types.items() for t in allowed if types[name][c, t] < MIN}
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
    assert sum(judged[verdict] for verdict in PASSES) == SAMPLE, judged


def own_lines(version: Version) -> list[str]:
    return [line for line in LINES if line.startswith(f"{line_name(version)}(") and not rule_of(line)]


@pytest.mark.parametrize("operator", OPERATORS[::EACH], ids=lambda operator: operator.op)
def test_each_line_shows_what_none_before_it_did(operator: Operator) -> None:
    """Each line kills a new mutant or is listed as reaching a block of its own; make coverage checks that list."""
    by_side = set(listed())
    for version in operator.versions:
        lines = own_lines(version)
        rows = asked(PROBE, None, lines)
        for line, row in zip(lines, rows, strict=True):
            row["fresh"] = int(line in by_side)
        words = worth(rows)
        by_word = {word: [line for line, own in zip(lines, words, strict=True) if own == word] for word in ("", "side")}
        assert by_word == {"": [], "side": [line for line in lines if line in by_side]}


def test_lines_by_side_are_of_the_suite() -> None:
    assert set(listed()) <= set(LINES)
    assert len(set(listed())) == len(listed())


def test_each_rule_is_refused_once_by_a_version() -> None:
    twice = Counter((line.partition("(")[0], rule_of(line)) for line in LINES if rule_of(line))
    assert [key for key, times in twice.items() if times > 1] == []


def test_a_line_that_shows_nothing_new_may_go() -> None:
    (relu,) = [operator for operator in OPERATORS if operator.op == "Relu"]
    lines = [f"Relu-14(float[3]{{{data}}})" for data in ("2,-2,0.5", "2,-3,0.25", "nan,-inf,1", "3,4,-1", "5,6,-7")]
    rows = asked(PROBE, None, lines)
    assert "x0: no sign" in rows[0]["faults"]
    assert "x0: NaN is 0" in rows[2]["faults"]
    assert [row["faults"] for row in (rows[1], rows[3], rows[4])] == [[], [], []]
    assert worth(rows) == ["fault", "", "fault", "", ""]


def test_what_nobody_can_judge_may_go() -> None:
    lines = ["ReduceProd-18(double[4]{1e200,1e200,1e-200,1e-200})", "ReduceProd-18(double[4]{1,2,3,4})"]
    rows = asked(PROBE, None, lines)
    assert [row["judged"] in PASSES for row in rows] == [False, True]
    assert worth(rows) == ["", "fault"]


def test_a_bound_that_is_left_out_is_judged() -> None:
    """Without its upper bound, the reference clips at the largest double."""
    (row,) = asked(PROBE, None, ["Clip-13(double[2]{-3,5}, _, double[]{1})"])
    assert row["judged"] == "exact"
    assert "x0: no sign" in row["faults"]


def test_lines_are_what_the_entries_give() -> None:
    """For one operator: its valid lines are variations of its present literal cases."""
    (clip,) = [operator for operator in OPERATORS if operator.op == "Clip"]
    for version in clip.versions:
        seeds = seeds_of(clip, version)
        made = set(candidates(version, seeds, widely=True))
        for constraint, allowed in version.types.items():
            made.update(str(draft) for type_ in allowed for draft in plainer(version, seeds, constraint, type_))
        own = [line for line in LINES if line.startswith(f"{version.name}(") and not rule_of(line)]
        assert own
        assert [line for line in own if line not in made] == []


def test_what_stands_in_a_line_is_found() -> None:
    line = 'LSTM-14(float[1,2]{1,2}, *float[0]~real, _, seq(tensor(float)){float[1]{1}}) mode="a b" k=[1,2] -> x_x'
    assert ports_of(line) == ["float[1,2]{1,2}", "*float[0]~real", "_", "seq(tensor(float)){float[1]{1}}"]
    assert {"attribute k=[1,2]", "outputs x_x", "1 held True", "1 has 0", "0 rank 2"} <= features(line)
