"""Tests of index programs: what is written, and that every definition has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from codegen import builtins, emit_index_programs
from codegen import index_program as program
from codegen.load import load_spec
from codegen.sorts import Checker
from codegen.units import primitives, with_distinct_names

SPEC = Path(__file__).parent.parent / "spec"
CODES = {facts["name"]: facts["code"] for facts in yaml.safe_load((SPEC / "types.yaml").read_text())["types"]}


@pytest.mark.parametrize(("number", "written"), [(0, b"\x00"), (127, b"\x7f"), (128, b"\x80\x01"), (300, b"\xac\x02")])
def test_a_number_takes_seven_bits_a_byte(number: int, written: bytes) -> None:
    assert program.varint(number) == written


def test_signs_are_in_the_lowest_bit() -> None:
    assert [program.zigzag(n) for n in (0, -1, 1, -2, 2)] == [b"\x00", b"\x01", b"\x02", b"\x03", b"\x04"]


def test_a_text_is_written_once() -> None:
    texts = program.Texts()
    assert [texts.number(text) for text in ("axis", "mode", "axis")] == [0, 1, 0]


def program_of(name: str) -> bytes:
    version = next(v for o in load_spec(SPEC) for v in o.versions if v.name == name)
    meaning = Checker(with_distinct_names(version), primitives(SPEC)).run()
    return program.IndexProgram(meaning, program.Texts(), CODES).bytes()


def test_the_shape_of_a_relu_is_that_of_its_input() -> None:
    op, functions = program.OPERATIONS.index, program.FUNCTIONS.index
    shape = bytes([op("call"), functions("shape"), program.SORTS.index("indices"), 1, op("input"), 0])
    assert program_of("Relu-14").count(bytes([1, 1]) + shape) == 1


def test_elements_are_written_of_few_families_alone() -> None:
    opaque = program.STATEMENTS.index("opaque")
    assert program_of("MatMul-13").endswith(bytes([1, opaque, 0]))
    assert not program_of("Relu-14").endswith(bytes([1, opaque, 0]))


def test_the_evaluator_has_the_functions_of_shapes() -> None:
    """Functions that an entry calls where its shapes are decided are not `unknown`."""
    missing = {"activate", "is_nan", "is_inf", "independent", "cos_of_turn", "sin_of_turn", "fraction"}
    assert set(builtins.BUILTINS) - set(program.FUNCTIONS) == missing


def test_every_version_with_semantics_has_a_program() -> None:
    table = emit_index_programs.table(load_spec(SPEC), SPEC)
    rows = re.findall(r"^    \{\d+, \d+, \d+, \d+\},$", table, re.MULTILINE)
    assert len(rows) == sum(v.kind == "semantics" for o in load_spec(SPEC) for v in o.versions)
    count = re.search(r"index_text_count = (\d+);", table)
    assert count and table.count(' "\\0"\n') == int(count[1])


def test_operations_are_numbered_for_the_evaluator() -> None:
    header = emit_index_programs.operations_header()
    assert "enum class IndexOperation : std::uint8_t { absent, unknown, number, real_," in header
    for items in emit_index_programs.ENUMS.values():
        assert len(set(items)) == len(items) <= 256
