"""The judge on a few mutants of each kind, and the machinery of the campaign."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from codegen.entry import Operator, Text
from codegen.load import load_spec
from codegen.notation import parse_statements
from codegen.units import make_unit, primitives
from tests.mutants.cases import Case, chosen, read_cases
from tests.mutants.edits import edits_of
from tests.mutants.emit import Edited, Mutant, Subject, honest_of, kernels_of, mutants_of, subjects_of
from tests.mutants.report import NOT_KNOWN, known_survivors, mutants_report, shortcomings, why_not_refused
from tests.mutants.run import ORDERS, Runner, Shown

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
SUITE = Path.home() / ".cache/touchstone/suites/1.23.2/node"


def statements(text: str) -> list:
    return parse_statements(Text(text, "scratch.yaml", 1))


def said(text: str) -> list[str]:
    return [edit.says.split(" in: ")[0] for edit in edits_of(statements(text))]


def test_every_node_of_a_tree_is_edited() -> None:
    found = said("Y[i] = if x[i] < 2 then -x[i] else sum k in 0..n where k > 1: exp(x[k])")
    for says in ("< -> <=", "then and else changed about", "without the minus", "2 -> 3", "2 -> 1", "sum -> max", "> -> >=",
                 "sum starts one later in k", "sum ends one earlier in k", "sum without its where", "exp() -> abs()"):  # fmt: skip
        assert says in found


def test_an_edit_changes_its_own_tree_alone_and_once() -> None:
    text = "Y[i] = a[i] + b[i] * 2"
    trees = []
    for number in range(len(said(text))):
        made = statements(text)
        list(edits_of(made))[number].make()
        trees.append(repr(made))
    assert len({*trees, repr(statements(text))}) == len(trees) + 1


def test_cases_are_chosen_for_what_they_add() -> None:
    def case(name: str, *features: str) -> Case:
        return Case(Path(name), "Op", 1, ("float",), frozenset(features))

    alike = [case(f"a{k}", "x") for k in range(30)]
    assert len(chosen(alike, 20)) == 20
    assert case("b", "x", "y") in chosen([*alike, case("b", "x", "y")], 2)


def mutant(name: str, says: str) -> Mutant:
    return Mutant(name, "elementwise", says, 1, [], "", "")


def test_what_falls_short_is_said() -> None:
    assert shortcomings(0.95, 20, []) == []
    few, many, unknown = shortcomings(0.949, 21, ["- Relu_1_m1"])
    assert "94.9 %" in few and "21 cases" in many and "1 are not refused" in unknown


def test_one_that_is_not_refused_for_no_known_reason_falls_short() -> None:
    mutants = [
        mutant("Clip_11_m1", "Clip.yaml:15: < -> <= in: let raised"),
        mutant("Clip_11_m2", "Clip.yaml:15: min -> max in: x"),
    ]
    refused = [Shown("Clip_11_m2", [{"refused": True, "verdict": "wrong-value", "case": "a"}])] * 40
    _, short = mutants_report(mutants, [*refused, Shown("Clip_11_m1")])
    assert short == []
    text, short = mutants_report(mutants, [*refused, Shown("Clip_11_m2")])
    assert short == [f"1 are not refused {NOT_KNOWN}"] and "- Clip_11_m2" in text


def test_survivors_that_are_named_are_those_that_are_meant() -> None:
    """An entry that changes counts its edits anew, and a number may then stand for another edit."""
    named = {name: row["match"] for row in known_survivors() for name in row.get("mutants", [])}
    kernels = {name.rsplit("_m", 1)[0] for name in named}
    operators = [o for o in load_spec(ROOT / "spec") if any(k.startswith(f"{o.op}_") for k in kernels)]
    units = {f"{o.op}_{versions[0].since}": versions for o in operators for versions in kernels_of(o)}
    for name, match in named.items():
        kernel, number = name.rsplit("_m", 1)
        edited = Edited(int(number))
        make_unit(units[kernel], primitives(ROOT / "spec"), edited.checker())
        assert edited.done and re.search(match, edited.done.says), name


@pytest.fixture(scope="module")
def operators() -> list[Operator]:
    return [o for o in load_spec(ROOT / "spec") if o.op in ("Softmax", "Clip", "ReduceMean")]


@pytest.fixture(scope="module")
def subjects(operators: list[Operator]) -> list[Subject]:
    if not SUITE.is_dir():
        pytest.skip("the suite is not made: make setup")
    write_literal(BUILD / "mutants_test" / "Softmax")
    return subjects_of(operators, read_cases(folders()))


def folders() -> list[Path]:
    """Of the suite, and of the literal cases those that the mutants of Softmax need."""
    kinds = ("softmax", "clip", "reduce_mean")
    return [f for kind in kinds for f in sorted(SUITE.glob(f"test_{kind}_*"))] + [BUILD / "mutants_test" / "Softmax"]


def write_literal(folder: Path) -> None:
    """A row whose largest element is its first, and one whose largest is its last: too far from the others for exp."""
    x = np.float32([[1000, 0, 0], [0, 0, 1000]])
    node = helper.make_node("Softmax", ["x"], ["y"])
    ports = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, x.shape) for name in "xy"]
    graph = helper.make_graph([node], "far_apart", ports[:1], ports[1:])
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), folder / "model.onnx"
    )
    for name, value in (("input_0", x), ("output_0", np.float32([[1, 0, 0], [0, 0, 1]]))):
        (data / f"{name}.pb").write_bytes(numpy_helper.from_array(value).SerializeToString())


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(ROOT, BUILD, tmp_path_factory.mktemp("mutants"))


def test_mutants_are_refused(subjects: list[Subject], runner: Runner) -> None:
    known = primitives(ROOT / "spec")
    newest = {s.operator.op: s for s in subjects}
    mutants: list[Mutant] = [m for s in newest.values() for m in mutants_of(s, known, 6, 1)]
    shown = runner.run([mutants])
    assert len(shown) >= 12
    said = {m.name: f"{m.name}, {m.says}" for m in mutants}
    unknown = [said[s.name] for s in shown if not s.refused and why_not_refused(said[s.name]) == NOT_KNOWN]
    assert not unknown


def test_honest_sums_are_accepted(subjects: list[Subject], runner: Runner) -> None:
    known = primitives(ROOT / "spec")
    honest = [honest_of(s, known) for s in subjects if s.operator.op == "ReduceMean"]
    shown = runner.run([honest], "pairwise", ORDERS["pairwise"], honest=True)
    assert shown and all(s.rows and not s.refused for s in shown)


def test_one_that_dies_or_never_ends_is_named_and_the_rest_goes_on(subjects: list[Subject], runner: Runner) -> None:
    clip = next(s for s in subjects if s.operator.op == "Clip")
    kinds = {"m1": "for (volatile int k = 0;; k = 0) {}", "m2": "__builtin_trap();", "m3": "throw std::bad_alloc();"}
    mutants = [
        Mutant(f"Clip_{n}", clip.form, "", clip.versions[0].since, clip.cases[:1], "",
               f"#include <new>\nnamespace touchstone::native {{ void run_Clip_{n}(Call& call) {{ (void)call; {body} }} }}\n")
        for n, body in kinds.items()
    ]  # fmt: skip
    shown = {s.name: s.rows[-1]["verdict"] for s in runner.run([mutants], "dying")}
    assert shown == {"Clip_m1": "timeout", "Clip_m2": "crash", "Clip_m3": "out-of-memory"}
