"""Constructs of the notation that no entry misuses: their generated code, and the error messages for mistakes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.entry import SpecError
from codegen.load import load_spec
from codegen.units import primitives, units_of

SPEC = Path(__file__).resolve().parents[2] / "spec"
ENTRY = """\
op: Toy
form: move
doc: A toy.
versions:
  - since: 1
    inputs: {{X: {{type: T}}, U: {{type: T}}, I: {{type: int64}}}}
    outputs: {{{outputs}}}
    types: {{T: [float, int32]}}
    semantics: |
{semantics}
"""


@pytest.fixture
def body(tmp_path: Path) -> Callable[..., str]:
    """Returns a function from semantics to the generated kernel's body; `parts` sets the spec's parts, `also` selects
    that formula.
    """

    def make(semantics: str, outputs: str = "Y: {type: T, shape: shape(X)}", parts: str = "", also: str = "") -> str:
        ops = tmp_path / "spec" / "ops" / "ai.onnx"
        ops.mkdir(parents=True)
        for name in ("schema.json", "type_groups.yaml"):
            (tmp_path / "spec" / name).write_text((SPEC / name).read_text())
        (tmp_path / "spec" / "parts.yaml").write_text(parts or "{}")
        lines = "".join(f"      {line}\n" for line in semantics.split("\n"))
        entry = ENTRY.format(outputs=outputs, semantics=lines)
        if also:
            entry += "    also:\n      other:\n        by: nobody\n        semantics: |\n"
            entry += "".join(f"          {line}\n" for line in also.split("\n"))
        (ops / "Toy.yaml").write_text(entry)
        unit = units_of(load_spec(tmp_path / "spec")[0], primitives(SPEC))[0]
        unit = unit.also[0] if also else unit
        return "\n".join([*unit.plan.body, *unit.body])

    return make


def test_a_part_stands_where_it_is_used_and_keeps_its_lines(body: Callable[..., str]) -> None:
    made = body("use last\nY[i] = X[i with a = 0]", parts="last: |\n  let a = rank(X) - 1\n")
    assert '#line 2 "spec/parts.yaml"\na = subtract(rank(X), Index{1});' in made


def test_a_part_that_is_not_there_is_refused(body: Callable[..., str]) -> None:
    with pytest.raises(SpecError, match="Toy.yaml:10: Toy-1: spec/parts.yaml has no part nowhere"):
        body("use nowhere\nY[i] = X[i]")


def test_a_variadic_output_is_defined_tensor_by_tensor(body: Callable[..., str]) -> None:
    made = body("Y[k][i] = X[i with 0 = i[0] + k]", "Y: {type: T, variadic: true, shape: 'replaced(shape(X), 0, k)'}")
    assert "Y_count = facts.outputs(0);" in made
    assert "for (Index k = 0; k < size(Y); ++k) {" in made


@pytest.mark.parametrize(
    ("semantics", "outputs"),
    [
        ("Y[i] = X[i]", "Y: {type: T, variadic: true, shape: shape(X)}"),
        ("Y[k][i] = X[i]", "Y: {type: T, shape: shape(X)}"),
    ],
)
def test_only_a_variadic_output_has_tensors(body: Callable[..., str], semantics: str, outputs: str) -> None:
    with pytest.raises(SpecError, match="defines the tensors of a variadic output"):
        body(semantics, outputs)


def test_scattered_sums_meet_in_accumulators(body: Callable[..., str]) -> None:
    made = body("Y[i] = X[i]\nscatter u in box(shape(U)) where u[0] > 0: Y[index(I[u], 3)] sum= U[u]")
    assert "Scattered<Sum<Compute<T>>, T> updated(Y);" in made
    assert (
        "if ((item(u, Index{0}) > Index{0})) updated.add(join(checked_index(I.read(u), Index{3})), U.read(u));" in made
    )


def test_scatter_without_a_base_is_refused(body: Callable[..., str]) -> None:
    with pytest.raises(SpecError, match="Y is defined first"):
        body("scatter u in box(shape(U)): Y[u] = U[u]")


def test_a_sum_of_independent_terms_has_its_accumulator(body: Callable[..., str]) -> None:
    made = body("Y[i] = sum k in 0..3: independent(X[i] * U[i])")
    assert "Accumulators<Independent<Compute<T>>> independent_0(all.longest());" in made
    assert "independent_0[x].add(product_in_sum(" in made


def test_bits_stand_alone(body: Callable[..., str]) -> None:
    with pytest.raises(SpecError, match="stand alone"):
        body("Y[i] = X[i] + bits<type(1)>(U[i])")


def test_a_form_puts_its_lines_in_the_place_of_what_defines_the_same(body: Callable[..., str]) -> None:
    text = "let a = rank(X) - 1\nt[i in shape(X)] = X[i] + U[i]\nY[i] = t[i] * U[i]"
    made = body(text, also="s[i in shape(X)] = X[i] * U[i]\nY[i] = s[i] + U[i] * U[i]")
    assert made.index("t[i in shape(X)]") < made.index("s[i in shape(X)]") < made.index("Y[i] = s[i]")
    assert "Y[i] = t[i]" not in made and '#line 19 "spec/ops/ai.onnx/Toy.yaml"' in made


def test_a_form_reaches_into_the_branch_of_floats(body: Callable[..., str]) -> None:
    text = "when T in integers:\n  Y[i] = X[i]\nelse:\n  Y[i] = X[i] * U[i]"
    made = body(text, also="s[i in shape(X)] = X[i] + U[i]\nY[i] = s[i] * U[i]")
    order = ["// s[", "if constexpr", "// Y[i] = X[i]\n", "// Y[i] = s[i] * U[i]"]
    assert sorted(order, key=made.index) == order
    assert "X[i] * U[i]" not in made


def test_a_form_that_defines_nothing_anew_is_refused(body: Callable[..., str]) -> None:
    with pytest.raises(SpecError, match="Toy.yaml:16: Toy-1: the form other defines nothing anew"):
        body("Y[i] = X[i] * U[i]", also="s[i in shape(X)] = X[i]")


def with_graph(tmp_path: Path, semantics: str) -> str:
    """The body of the kernel of an entry with a graph attribute."""
    ops = tmp_path / "spec" / "ops" / "ai.onnx"
    ops.mkdir(parents=True)
    for name in ("schema.json", "type_groups.yaml"):
        (tmp_path / "spec" / name).write_text((SPEC / name).read_text())
    entry = ENTRY.format(
        outputs="Y: {type: T, shape: shape(X)}", semantics=f"      {semantics}".replace("\n", "\n      ")
    )
    (ops / "Toy.yaml").write_text(
        entry.replace("    types:", "    attributes: {g: {type: graph}, n: {type: int}}\n    types:")
    )
    unit = units_of(load_spec(tmp_path / "spec")[0], primitives(SPEC))[0]
    assert unit.headers == ["node_graph.h"]
    assert [p.native for p in unit.parameters if p.name == "g"] == ['graph_of(call, "g")']
    return "\n".join(unit.body)


def test_a_graph_of_the_node_sees_a_buffer(tmp_path: Path) -> None:
    made = with_graph(tmp_path, "a[i in shape(X)] = X[i] + U[i]\nrun b = g(a, type(X))\nY[i] = b[i] * U[i]")
    assert "const auto b = through(g, a, X.type);" in made
    assert "reader(b, row" in made


@pytest.mark.parametrize(
    ("semantics", "says"),
    [
        ("run b = g(X, type(X))\nY[i] = b[i]", "X is no buffer of elements, so no graph can see it"),
        ("a[i in shape(X)] = i[0]\nrun b = g(a, type(X))\nY[i] = X[i]", "a is no buffer of elements"),
        ("a[i in shape(X)] = X[i]\nrun b = n(a, type(X))\nY[i] = b[i]", "n is no attribute that holds a graph"),
        ("a[i in shape(X)] = X[i]\nrun X = g(a, type(X))\nY[i] = X[i]", "X is there already"),
    ],
)
def test_what_no_graph_sees_is_refused(tmp_path: Path, semantics: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        with_graph(tmp_path, semantics)


def test_parts_of_a_turn_and_bounds_bring_their_header(body: Callable[..., str]) -> None:
    made = body("Y[i] = (sum k in 0..up_to(floor_index(real(U[i]))): X[i with 0 = k]) * cos_of_turn(i[0], 8)")
    assert "Steps(Index{0}, up_to(floor_index(to_real<Q>(U.read(i)))))" in made
    assert "cos_of_turn<Q>(item(i, Index{0}), Index{8})" in made


@pytest.mark.parametrize(
    ("types", "follows"), [("float, double, string", True), ("float, double", False), ("float, int32", False)]
)
def test_reals_beside_elements_of_any_type_follow_those(tmp_path: Path, types: str, follows: bool) -> None:
    ops = tmp_path / "spec" / "ops" / "ai.onnx"
    ops.mkdir(parents=True)
    for name in ("schema.json", "type_groups.yaml"):
        (tmp_path / "spec" / name).write_text((SPEC / name).read_text())
    entry = ENTRY.format(
        outputs="Y: {type: T, shape: shape(X)}", semantics="      Y[i] = convert<T>(real(X[i]) * real(G[i]))"
    )
    entry = entry.replace("U: {type: T}", "G: {type: S}").replace(
        "T: [float, int32]", f"T: [{types}], S: [float, double]"
    )
    (ops / "Toy.yaml").write_text(entry)
    unit = units_of(load_spec(tmp_path / "spec")[0], primitives(SPEC))[0]
    assert unit.formats == ["plan.type_T", "plan.type_S"]
    assert unit.follows_main == follows


@pytest.mark.parametrize(
    ("semantics", "deciding"),
    [
        ("X[i] * convert<T>(G[i])", ["T"]),
        ("X[i] * convert<T>(real(G[i]))", ["T"]),
        ("X[i] * convert<T>(G[i] + G[i])", ["T", "S"]),
        ("X[i] * G[i]", ["T", "S"]),
        ("X[i] * convert<T>(G[i]) + G[i]", ["T", "S"]),
    ],
)
def test_elements_that_are_only_converted_do_not_decide_the_type_of_computation(
    tmp_path: Path, semantics: str, deciding: list[str]
) -> None:
    ops = tmp_path / "spec" / "ops" / "ai.onnx"
    ops.mkdir(parents=True)
    for name in ("schema.json", "type_groups.yaml"):
        (tmp_path / "spec" / name).write_text((SPEC / name).read_text())
    entry = ENTRY.format(outputs="Y: {type: T, shape: shape(X)}", semantics=f"      Y[i] = {semantics}")
    entry = entry.replace("U: {type: T}", "G: {type: S}").replace(
        "T: [float, int32]", "T: [float, double], S: [float, double]"
    )
    (ops / "Toy.yaml").write_text(entry)
    unit = units_of(load_spec(tmp_path / "spec")[0], primitives(SPEC))[0]
    assert unit.computing == deciding
