"""A fast kernel follows its entry: changing the entry changes the generator; an unfit definition reports the reason."""

from __future__ import annotations

import os
import re
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
    """Returns a copy of the spec without operators."""
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
    assert "result(at) = strict_sum(strict_product(x_(at), constant(0.25)), prim::exp(y_(at)));" in before
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
        table = (tmp_path / "optimized" / "registry.cc").read_text()
        assert ("TOUCHSTONE_OF_ISA(Toy_1_fma, avx2, _argv)" in table) == joins


def test_operations_of_elementwise_definitions_keep_their_order(scratch: Path, tmp_path: Path) -> None:
    toy(scratch, "z[i] = x[i] * sigmoid(y * x[i]) * (y - x[i] / 3)")
    product = "strict_product(x_(at), prim::sigmoid(strict_product(y_value, x_(at))))"
    difference = "strict_difference(y_value, strict_quotient(x_(at), constant(3)))"
    assert f"result(at) = strict_product({product}, {difference});" in generator(scratch, tmp_path)


def test_how_operands_are_laid_is_read_from_the_definition(scratch: Path) -> None:
    for text, broadcasts in [
        ("z[i] = x[i] * 2", True),
        ("z[i] = x[i] * y[fit(i, y)]", True),
        ("z[i] = x[i] * y[fit_from(i, y, 1)]", False),
        ("let by = view(y, [dim(y, 0), 1])\n      z[i] = x[i] * by[fit(i, by)]", False),
    ]:
        toy(scratch, text)
        (fast,) = products_of(load_spec(scratch), scratch).fast
        assert fast.algorithm.broadcasts == broadcasts, text


def test_choices_are_selects_and_types_are_decided(scratch: Path, tmp_path: Path) -> None:
    toy(scratch, "z[i] = if x[i] < y and not (y == 0) then -x[i] else max(x[i], y)")
    text = generator(scratch, tmp_path)
    condition = "(x_(at) < y_value) && !(y_value == constant(0))"
    assert f"select({condition}, negative(x_(at)), prim::maximum(x_(at), y_value))" in text
    toy(scratch, "when T in integers:\n        z[i] = x[i] / y\n      else:\n        z[i] = x[i] - y", types="numbers")
    assert "result(at) = strict_difference(x_(at), y_value);" in generator(scratch, tmp_path)


def test_a_reduction_keeps_its_body_and_epilogue(scratch: Path, tmp_path: Path) -> None:
    toy(scratch, "z[i] = sqrt(sum r in box([dim(x, 0)]): x[r] * x[r]) / dim(x, 0)", form="reduce")
    text = generator(scratch, tmp_path)
    assert "sum([&](const IndexVector& at) { return x_(at) * x_(at); }, x_);" in text
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


def test_a_contraction_is_for_devices_alone(scratch: Path, tmp_path: Path) -> None:
    toy(scratch, "z[i] = (sum k in 0..dim(x, 0): x[k] * x[k]) + y[fit(i, y)]", form="contract")
    text = generator(scratch, tmp_path)
    assert "sum([&](const IndexVector& at) { return x_(at) * x_(at); }, x_);" in text
    assert "result(x, y, z) = sum_of + y_(at);" in text
    assert "Toy_1_contracted)" in text
    assert "Toy_1" not in (tmp_path / "optimized" / "registry.cc").read_text()
    row = re.search(r'Form::contract, "Toy_1", fast::run_Toy_1, (\d+),\s+(\w+)', told := device_table(tmp_path))
    assert row, told
    assert row.groups() == ("3", "device_Toy_1_contracted_opencl_argv")
    toy(scratch, "z[i] = sum k in 1..dim(x, 0): x[k]", form="contract")
    made = products_of(load_spec(scratch), scratch)
    assert (made.unfit_on_devices, made.unfit) == ([("Toy-1", "a contraction that is no sum from 0 on")], [])


def device_table(out: Path) -> str:
    return (out / "optimized" / "device_registry.cc").read_text()


def test_what_a_caller_reads_is_not_read_on_a_device(scratch: Path, tmp_path: Path) -> None:
    toy(scratch, "z[i] = x[i] + y")
    generator(scratch, tmp_path)
    assert '"Toy_1", fast::run_Toy_1, 1,' in device_table(tmp_path)


@pytest.mark.skipif("TOUCHSTONE_BUILD" not in os.environ, reason="ctest says where the build is")
def test_every_kernel_for_devices_is_an_entry_of_ptx() -> None:
    build, generated = Path(os.environ["TOUCHSTONE_BUILD"]), Path(os.environ["TOUCHSTONE_GENERATED"])
    kernels = set(re.findall(r"\bdevice_(\w+)_opencl_argv", device_table(generated)))
    assert len(kernels) > 50
    assert {file.stem for file in (build / "optimized" / "ptx").glob("*.ptx")} == kernels
    for kernel in kernels:
        text = (build / "optimized" / "ptx" / f"{kernel}.ptx").read_text()
        assert re.search(r"^\.target sm_70$", text, re.MULTILINE), kernel
        assert text.count(".visible .entry ") == 1, kernel
        assert "ld.global" in text and "st.global" in text, kernel


def test_no_primitive_is_offered_twice_or_unknown() -> None:
    assert {"exp", "log", "sqrt", "tanh", "sigmoid", "maximum"} <= offered()
