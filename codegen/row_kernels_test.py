"""Expressions of a row kernel follow the entry: a changed entry changes them, and an unfit definition reports the
reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.emit_halide_test import scratch, toy  # noqa: F401
from codegen.emit_row_kernels import emit, offered, products_of_row_kernels
from codegen.load import load_spec


def expressions(spec: Path) -> list[tuple[str, str]]:
    made = products_of_row_kernels(load_spec(spec), spec)
    assert made.row_kernels, made.unfit
    return list(made.expressions.rows)


def reason(spec: Path) -> str:
    made = products_of_row_kernels(load_spec(spec), spec)
    assert not made.row_kernels
    return made.unfit[0][1]


NORMALISED = """m[n in head(shape(x), 1)] = (sum k in 0..dim(x, 1): x[n.., k]) / dim(x, 1)
      z[i] = (x[i] - m[head(i, 1)]) * exp(y[i]) * 0.25"""


def test_a_constant_of_the_entry_is_the_terms(scratch: Path, tmp_path: Path) -> None:  # noqa: F811
    toy(scratch, NORMALISED, form="normalise")
    assert expressions(scratch) == [
        ("sum fold", "a0[x]"),
        ("sum", "a0[x]"),
        ("map", "a0[x] / v0"),
        ("map", "((a0[x] - a1[x]) * exp(a2[x])) * 0.25F"),
    ]
    emit(load_spec(scratch), scratch, tmp_path / "before")
    toy(scratch, NORMALISED.replace("0.25", "0.75"), form="normalise")
    emit(load_spec(scratch), scratch, tmp_path / "after")
    before = (tmp_path / "before" / "optimized" / "row_expressions.cc").read_text()
    assert (tmp_path / "after" / "optimized" / "row_expressions.cc").read_text() == before.replace("0.25F", "0.75F")


def test_what_is_decided_once_a_call_is_computed_apart(scratch: Path) -> None:  # noqa: F811
    toy(scratch, "z[i] = if rank(x) == 1 then x[i] + y[i] else x[i] * y[i]", form="normalise")
    assert expressions(scratch) == [("map", "a0[x] + a1[x]"), ("map", "a0[x] * a1[x]")]


def test_types_are_decided_for_float(scratch: Path) -> None:  # noqa: F811
    toy(
        scratch,
        "when T in integers:\n        z[i] = x[i] / y[i]\n      else:\n        z[i] = x[i] - y[i]",
        "normalise",
        "numbers",
    )
    assert expressions(scratch) == [("map", "a0[x] - a1[x]")]


def test_a_choice_by_elements_has_no_branch(scratch: Path) -> None:  # noqa: F811
    toy(scratch, "z[i] = if x[i] < y[i] and x[i] > 0 then max(x[i], y[i]) else sqrt(y[i])", form="normalise")
    assert expressions(scratch) == [("map", "((a0[x] < a1[x]) & (a0[x] > 0.0F)) ? maximum(a0[x], a1[x]) : sqrt(a1[x])")]


def test_what_no_term_can_say_is_computed_before(scratch: Path, tmp_path: Path) -> None:  # noqa: F811
    toy(scratch, "z[i] = x[i] * y[reflect(i, shape(y))]", form="normalise")
    assert expressions(scratch) == [("map", "a0[x] * a1[x]")]
    emit(load_spec(scratch), scratch, tmp_path)
    assert "reflect(i, shape(y))" in (tmp_path / "optimized" / "Toy_1_rows.h").read_text()


@pytest.mark.parametrize(
    ("text", "types", "why"),
    [
        ("z[i] = x[reflect(i, shape(y))]", "floats", "elements are moved"),
        ("z[i] = x[i] + y[i]", "ints", "it is never of float"),
        ("z[i] = x[i] + (sum k in 0..i[0]: y[k])", "floats", "its sums jump"),
    ],
)
def test_what_is_not_fast_says_why(scratch: Path, text: str, types: str, why: str) -> None:  # noqa: F811
    toy(scratch, text, "normalise", types)
    assert why in reason(scratch)


def test_primitives_are_offered() -> None:
    assert {"exp", "log", "sqrt", "tanh", "sigmoid", "maximum"} <= offered()
