"""The judge on a few mutants of each kind, and the machinery of the campaign."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from codegen.entry import Operator, Text
from codegen.load import load_spec
from codegen.notation import parse_statements
from codegen.units import primitives
from tests.mutants.cases import Case, by_class, chosen, read_cases, read_line, read_lines
from tests.mutants.edits import edits_of
from tests.mutants.emit import Edited, Mutant, Subject, faithful_of, kernels_of, mutants_of, subjects_of, with_edits
from tests.mutants.report import NOT_KNOWN, known_survivors, mutants_report, shortcomings, why_not_refused
from tests.mutants.run import ORDERS, Runner, Shown
from tests.mutants.structural import all_templates, mutants_of_template, names_of_edits, templates_of
from tests.mutants.tokens import edits_of_text, made_by

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
SUITE = Path.home() / ".cache/touchstone/suites/1.23.2/node"


def statements(text: str) -> list:
    return parse_statements(Text(text, "scratch.yaml", 1))


def said(text: str) -> list[str]:
    return [edit.change for edit in edits_of(statements(text))]


def test_every_node_of_a_tree_is_edited() -> None:
    found = said("Y[i] = if x[i] < 2 then -x[i] else sum k in 0..n where k > 1: exp(x[k])")
    for says in ("< -> <=", "then and else changed about", "without the minus", "2 -> 3", "2 -> 1",
                 "sum -> max", "> -> >=", "sum starts one later in k", "sum ends one earlier in k",
                 "sum without its where", "exp() -> abs()"):  # fmt: skip
        assert says in found


def test_an_edit_changes_its_own_tree_alone_and_once() -> None:
    text = "Y[i] = a[i] + b[i] * 2"
    trees = []
    for number in range(len(said(text))):
        made = statements(text)
        list(edits_of(made))[number].make()
        trees.append(repr(made))
    assert len({*trees, repr(statements(text))}) == len(trees) + 1


def test_what_is_constant_in_a_version_is_not_edited() -> None:
    """Edits of a branch never taken, of an empty sum and of a neutral element would give the same values."""
    lets = "let one = repeat(1, r)\nlet never = false\nlet none_of = if never then n else 0\n"
    of_lets = len(said(lets))
    found = said(f"{lets}Y[i] = x[i] * one[0] - none_of")[of_lets:]
    assert found == ["the right of - alone", "the sides of - changed about", "the right of * alone", "0 -> 1"]
    assert said(f"{lets}Y[i] = if never then x[i] + 1 else -x[i]")[of_lets:] == [
        "then and else changed about", "without the minus",
    ]  # fmt: skip
    assert said(f"{lets}Y[i] = sum k in 0..none_of: x[k] * 2")[of_lets:] == ["sum -> max", "sum -> prod"]


def test_what_differs_between_cases_is_edited() -> None:
    lets = "let one = if given(steps) then steps else repeat(1, r)\nlet n = 0\nlet n = size(x)\n"
    found = said(f"{lets}Y[i] = sum k in 0..n: x[k] * one[0]")
    assert {"* -> /", "the left of * alone", "sum ends one earlier in k"} <= set(found)


def test_cases_are_chosen_for_what_they_add() -> None:
    def case(name: str, *features: str) -> Case:
        return Case(name, "Op", 1, ("float",), frozenset(features))

    alike = [case(f"a{k}", "x") for k in range(30)]
    assert len(chosen(alike, 20)) == 20
    assert case("b", "x", "y") in chosen([*alike, case("b", "x", "y")], 2)


def test_an_edit_is_named_by_its_definition_and_its_number_there() -> None:
    edited = Edited(-1)
    edited.apply(edits_of(statements("let far = x[i] < 2\nY[i] = a[1] + a[1]")))
    assert "let far: < -> <=" in edited.named
    assert {"Y[i]: 1 -> 2", "Y[i]: 1 -> 2 #2"} <= set(edited.named) and "Y[i]: 1 -> 2 #3" not in edited.named


TEMPLATE = """
// 1 < 2
Inferred infer_it(const Facts& facts) {
  return facts.integer("axis") < 1;
}
void run_it(Call& call) {
  if (call.inputs.size() != 1) {
    throw Error(ErrorKind::invalid_input, "2 < 3");
  }
  const bool all = std::max(n, 4) < call.limit("5 < 6");  // 7 < 8
  const Index axis = facts.integer("axis", -1);
  facts.require(axis == 0 &&
                    axis != 9, [&] { return ""; });
}
"""
REFUSING = """
void hold_it(const Facts& facts) {
  if (facts.given < 11) return;
}
constexpr Index bytes_of_it = 2 * 12;
bool run_it(Call& call) {
  const Charge charge(13 * n);
  const Index most = n + 14;
  const bool read = n > 15;
  for (const Index k : {16, 17}) {
    const Described input = facts.input(18);
    facts.require(k < most && read && input.given, [&] { return ""; });
  }
  return !read;
}
"""


def test_tokens_of_what_computes_are_edited() -> None:
    found = {one.change for one in edits_of_text(TEMPLATE)}
    assert found == {"< -> <=", "< -> >", "max -> min", "4 -> 5", "4 -> 3"}
    made = made_by(TEMPLATE, next(one for one in edits_of_text(TEMPLATE) if one.change == "max -> min"))
    assert "std::min(n, 4)" in made and made.count("\n") == TEMPLATE.count("\n")


def test_what_is_charged_and_what_only_refuses_is_left_alone() -> None:
    found = {one.change for one in edits_of_text(REFUSING)}
    assert found == {"> -> >=", "> -> <", "15 -> 16", "15 -> 14", "without !"}


def test_lines_of_the_spec_suite_are_cases() -> None:
    case = read_line('ai.onnx.ml.Scaler-1(float[1,2]{1,2}, *int64[2]~whole, _) offset=[0.5,1.0] way="a b" -> x')
    assert case and (case.op, case.since, case.types) == ("ai.onnx.ml/Scaler", 1, ("float", "int64", ""))
    assert {"inputs=xx-", "rank0=2", "rank1=1", "offset", 'way="a b"', "x"} <= case.features
    assert read_line("Concat-13(float[2]~real, float[2,2]~real) axis=0 !Concat-13/C2") is None
    assert read_line("Abs-13(text[2]~real) !model/type") is None
    lines = read_lines(ROOT / "conformance" / "suites" / "spec")
    assert lines["ai.onnx/MaxPool", 8] and lines["ai.onnx.ml/TreeEnsemble", 5]


def mutant(name: str, identity: str) -> Mutant:
    return Mutant(name, "elementwise", "", 1, [], "", "", identity)


def test_what_falls_short_is_said() -> None:
    assert shortcomings(0.97, 20, []) == []
    few, many, unknown = shortcomings(0.969, 21, ["- Relu_1_m1"])
    assert "96.9 %" in few and "21 cases" in many and "1 are not refused" in unknown


REFUSED = Shown("Clip_11_m2", [{"refused": True, "verdict": "wrong-value", "case": "a"}])


def known_and_unknown() -> list[Mutant]:
    return [mutant("Clip_11_m1", next(iter(known_survivors()))), mutant("Clip_11_m2", "Clip-11: x: min -> max")]


def test_one_that_is_not_refused_for_no_known_reason_falls_short() -> None:
    _, short = mutants_report(known_and_unknown(), [REFUSED] * 40 + [Shown("Clip_11_m1")], 7, fresh=False)
    assert short == []
    text, short = mutants_report(known_and_unknown(), [REFUSED] * 40 + [Shown("Clip_11_m2")], 7, fresh=False)
    assert short == [f"1 are not refused {NOT_KNOWN}"] and "- Clip-11: x" in text and "--seed" not in text


def test_of_a_fresh_draw_only_the_share_counts() -> None:
    text, short = mutants_report(known_and_unknown(), [REFUSED] * 40 + [Shown("Clip_11_m2")], 7, fresh=True)
    assert short == []
    assert f"1 not refused: {NOT_KNOWN}; to explain (repeat with --seed 7)\n- Clip-11: x" in text
    _, short = mutants_report(known_and_unknown(), [REFUSED] * 30 + [Shown("Clip_11_m2")], 7, fresh=True)
    assert short == ["96.8 % are refused, 97 % are asked"]


def test_survivors_that_are_named_are_edits() -> None:
    """Every listed survivor is an edit of the present entries: if an entry changes, its rows must be updated."""
    kernels = {identity.partition(":")[0] for identity in known_survivors()}
    spec, known = load_spec(ROOT / "spec"), primitives(ROOT / "spec")
    units = [versions for o in spec for versions in kernels_of(o) if versions[0].name in kernels]
    named = {identity for versions in units for identity in with_edits(versions, known)[1]}
    named |= {identity for t in all_templates(spec) if t.name in kernels for identity in names_of_edits(t)}
    assert not set(known_survivors()) - named


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
    """Cases of the suite, and the literal case that the mutants of Softmax need."""
    kinds = ("softmax", "clip", "reduce_mean")
    return [f for kind in kinds for f in sorted(SUITE.glob(f"test_{kind}_*"))] + [BUILD / "mutants_test" / "Softmax"]


def write_literal(folder: Path) -> None:
    """Writes a case with one row whose first element is the largest, and one whose last is: too far from the others for
    exp.
    """
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
    named = {m.name: m.identity for m in mutants}
    unknown = [named[s.name] for s in shown if not s.refused and why_not_refused(named[s.name]) == NOT_KNOWN]
    assert not unknown


def test_faithful_sums_are_accepted(subjects: list[Subject], runner: Runner) -> None:
    known = primitives(ROOT / "spec")
    faithful = [faithful_of(s, known) for s in subjects if s.operator.op == "ReduceMean"]
    shown = runner.run([faithful], "pairwise", ORDERS["pairwise"], faithful=True)
    assert shown and all(s.rows and not s.refused for s in shown)


def test_a_case_whose_output_type_came_later_is_left_out(runner: Runner) -> None:
    lines = [
        case for text in ("Cast-9(int32[2]{7,-1}) to=8", "Cast-9(int32[2]{7,-1}) to=1") if (case := read_line(text))
    ]
    cast = [o for o in load_spec(ROOT / "spec") if o.op == "Cast"]
    oldest = next(s for s in subjects_of(cast, {("ai.onnx/Cast", 9): lines}) if s.versions[0].since == 6)
    faithful = faithful_of(oldest, primitives(ROOT / "spec"))
    (shown,) = runner.run([[faithful]], "later", ORDERS["reversed"], faithful=True)
    assert shown.cases == 1 and not shown.refused


def test_one_that_dies_or_never_ends_is_named_and_the_rest_goes_on(subjects: list[Subject], runner: Runner) -> None:
    clip = next(s for s in subjects if s.operator.op == "Clip")
    kinds = {"m1": "for (volatile int k = 0;; k = 0) {}", "m2": "__builtin_trap();", "m3": "throw std::bad_alloc();"}
    mutants = [
        Mutant(f"Clip_{n}", clip.form, "", clip.versions[0].since, clip.cases[:1], "",
               f"#include <new>\nnamespace touchstone::native {{ "
               f"void run_Clip_{n}(Call& call) {{ (void)call; {body} }} }}\n")
        for n, body in kinds.items()
    ]  # fmt: skip
    shown = {s.name: s.rows[-1]["verdict"] for s in runner.run([mutants], "dying")}
    assert shown == {"Clip_m1": "timeout", "Clip_m2": "crash", "Clip_m3": "out-of-memory"}


def test_mutants_of_templates_are_refused(runner: Runner) -> None:
    lines = read_lines(ROOT / "conformance" / "suites" / "spec")
    templates = templates_of(
        load_spec(ROOT / "spec"), {key: of for key, of in lines.items() if key[0] == "ai.onnx/TopK"}
    )
    assert [t.name for t in templates] == ["topk"]
    mutants = mutants_of_template(templates[0], 8, 1)
    shown = runner.run([mutants], "by_hand")
    assert sum(s.refused for s in shown) > len(mutants) / 2


def test_classes_that_meet_in_few_cases_alone_are_run_too() -> None:
    operator = next(o for o in load_spec(ROOT / "spec") if o.op == "QLinearMatMul")
    version = next(v for v in operator.versions if v.since == 21)

    def cases(a: str, b: str, y: str, count: int) -> list[Case]:
        types = (a, "float", a, b, "float", b, "float", y)
        return [Case(f"{a}/{b}/{y}/{k}", "ai.onnx/QLinearMatMul", 21, types, frozenset()) for k in range(count)]

    whole, eighth = "int8", "float8e5m2"
    common = [*cases(whole, whole, whole, 9), *cases(whole, eighth, whole, 5), *cases(eighth, whole, whole, 4),
              *cases(whole, whole, eighth, 3)]  # fmt: skip
    rare = cases(eighth, eighth, eighth, 2)
    again = cases(eighth, whole, eighth, 1)  # meets less
    assert by_class([*common, *rare, *again], version) == [*common, *rare]
    assert by_class([*common, *cases("uint8", "uint8", "uint8", 1)], version)[:10] == [
        *common[:9], *cases("uint8", "uint8", "uint8", 1)]  # fmt: skip
