"""A fast kernel's algorithm is the entry's: change the entry and the generator changes; what does not fit says why."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from codegen.emit_halide import emit, offered, products_of
from codegen.load import load_spec

SPEC = Path(__file__).parent.parent / "spec"

TOY = """op: Toy
form: {form}
doc: A made-up operator.
versions:
  - since: 1
    inputs: {{x: {{type: T}}, y: {{type: T}}}}
    outputs: {{z: {{type: T, shape: shape(x)}}}}
    types: {{T: [{types}]}}
    semantics: |
      {text}
"""


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """The spec without its operators."""
    spec = tmp_path / "spec"
    (spec / "ops" / "ai.onnx").mkdir(parents=True)
    for file in SPEC.iterdir():
        if file.is_file():
            shutil.copy(file, spec)
    return spec


def toy(spec: Path, text: str, form: str = "elementwise", types: str = "floats") -> None:
    (spec / "ops" / "ai.onnx" / "Toy.yaml").write_text(TOY.format(form=form, types=types, text=text))


def generator(spec: Path, out: Path) -> str:
    emit(load_spec(spec), spec, out)
    return (out / "optimized" / "Toy_1_generator.cc").read_text()


def reason(spec: Path) -> str:
    made = products_of(load_spec(spec), spec)
    assert not made.fast
    return made.unfit[0][1]


def test_a_constant_of_the_entry_is_the_kernels(scratch: Path, tmp_path: Path) -> None:
    toy(scratch, "z[i] = x[i] * 0.25 + exp(y[fit(i, y)])")
    before = generator(scratch, tmp_path / "before")
    assert "result(at) = (x_(at) * constant(0.25)) + prim::exp(y_(at));" in before
    toy(scratch, "z[i] = x[i] * 0.75 + exp(y[fit(i, y)])")
    after = generator(scratch, tmp_path / "after")
    assert after == before.replace("0.25", "0.75")


def test_products_and_sums_are_joined_where_it_is_worth_it_and_nothing_is_compared(
    scratch: Path, tmp_path: Path
) -> None:
    for text, joins in [
        ("z[i] = x[i] * sigmoid(x[i])", True),
        ("z[i] = x[i] * y", False),
        ("z[i] = if x[i] < y then exp(x[i]) else x[i]", False),
        ("z[i] = max(tanh(x[i]), y)", False),
    ]:
        toy(scratch, text)
        assert ("ALIAS(Toy_1_fma, Toy_1, {})" in generator(scratch, tmp_path)) == joins
        assert ("Toy_1_fma_avx2_argv}" in (tmp_path / "optimized" / "registry.cc").read_text()) == joins


def test_choices_are_selects_and_types_are_decided(scratch: Path, tmp_path: Path) -> None:
    toy(scratch, "z[i] = if x[i] < y and not (y == 0) then -x[i] else max(x[i], y)")
    text = generator(scratch, tmp_path)
    condition = "(x_(at) < y_value) && !(y_value == constant(0))"
    assert f"select({condition}, -x_(at), prim::maximum(x_(at), y_value))" in text
    toy(scratch, "when T in integers:\n        z[i] = x[i] / y\n      else:\n        z[i] = x[i] - y", types="numbers")
    assert "result(at) = x_(at) - y_value;" in generator(scratch, tmp_path)


def test_a_reduction_keeps_its_body_and_epilogue(scratch: Path, tmp_path: Path) -> None:
    toy(scratch, "z[i] = sqrt(sum r in box([dim(x, 0)]): x[r] * x[r]) / dim(x, 0)", form="reduce")
    text = generator(scratch, tmp_path)
    assert "sum([&](const Point& at) { return x_(at) * x_(at); }, x_);" in text
    assert "result(x, outer) = prim::sqrt(sum_of) / dim_x;" in text


@pytest.mark.parametrize(
    ("text", "form", "why"),
    [
        ("z[i] = x[i] + y[reflect(i, shape(y))]", "elementwise", "not affine in i"),
        ("z[i] = x[i] + (y[i] else 0)", "elementwise", "a read that may be outside"),
        ("z[i] = sum r in box(shape(y)): y[r]", "elementwise", "a reduction in an elementwise definition"),
        ("z[i] = x[i] + (sum r in box(shape(y)): y[r])", "reduce", "an element is read beside the reduction"),
        ("z[i] = cos(x[i]) + y", "elementwise", "cos() has no fast form"),
        ("m[i in shape(x)] = x[i] + y\n      z[i] = m[i]", "elementwise", "more than one definition"),
        ("z[n, m..] = x[n, m..] + y + n", "elementwise", "an index or a real that differs by element"),
    ],
)  # fmt: skip
def test_what_does_not_fit_says_why(scratch: Path, text: str, form: str, why: str) -> None:
    toy(scratch, text, form)
    assert why in reason(scratch)


def test_integers_alone_have_no_fast_kernel(scratch: Path) -> None:
    toy(scratch, "z[i] = x[i] + y", types="ints")
    assert reason(scratch) == "T is never float"


def test_no_primitive_is_offered_twice_or_unknown() -> None:
    assert {"exp", "log", "sqrt", "tanh", "sigmoid", "maximum"} <= offered()
