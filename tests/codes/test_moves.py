"""Data-movement operators, by every version and type: each bit is kept, including NaN payloads and -0."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.codes.formats import BITS, CODES, FLOATS, INTEGERS, all_codes, codes_of, holder, integers
from tests.codes.graphs import Codes, Graph, bit_stream
from tests.codes.moves import AT, MOVES, SHAPE
from tests.codes.operands import SCHEMAS, allowed, special_integers, special_numbers, versions

CONSTRAINTS = {"OneHot": "T3", "ConstantOfShape": "T2", "Identity": "V"}
DEPRECATED = {("Upsample", 10), ("Scatter", 11)}
TEXTS = [b"", b"a", b"\0", b"a\0b", "\u00e4\u4e2d".encode(), b"\xff\xfe", b" x ", b"x" * 100, b"-0", b"nan"]


def payload(name: str) -> Codes:
    """Every code of a type of 8 bits or fewer; for the others special values and random ones."""
    if name == "string":
        flat = np.array([*TEXTS, None], object)[:-1]
    elif name.startswith("complex"):
        part = special_numbers("float" if name == "complex64" else "double")
        flat = np.stack([np.repeat(part, 9), np.tile(part, 9)], axis=1)[:285].copy().view(holder(name)).ravel()
    elif BITS[name] <= 8:
        flat = all_codes(name)
    else:
        flat = special_numbers(name) if name in FLOATS else codes_of(name, special_integers(name))
        random = np.random.default_rng(8).integers(0, 1 << 64, 300, dtype=np.uint64)
        flat = np.concatenate([flat, (random >> np.uint64(64 - BITS[name])).astype(holder(name))])
    return Codes(name, np.resize(flat, AT.size).reshape(SHAPE))


def types_of(op: str, since: int) -> list[str]:
    names = [c.type_param_str for c in SCHEMAS[op, since].type_constraints]
    wanted = next(name for name in (CONSTRAINTS.get(op), "T", "T1") if name in names)
    return allowed(op, since, wanted)


@pytest.mark.parametrize("op", MOVES)
def test_move(op: str, folder: Path) -> None:
    for since in versions(op):
        if (op, since) in DEPRECATED:
            continue
        graph = Graph(since)
        for name in types_of(op, since):
            value = payload(name)
            MOVES[op](graph, since, graph.feed(value), value)
        (folder / str(since)).mkdir()
        graph.check(folder / str(since))


def test_payloads_hold_what_is_hard_to_move() -> None:
    """The payloads cover all codes of the small types, NaN payloads, both zeros and ends of the others, and a last
    partial byte.
    """
    for name, bits in BITS.items():
        codes = set(payload(name).codes.ravel().tolist())
        if bits <= 8:
            assert codes == set(all_codes(name).tolist())
        if name in FLOATS and FLOATS[name].nan == "ieee":
            top = ((1 << FLOATS[name].exponent) - 1) << FLOATS[name].mantissa
            assert {0, 1 << bits - 1, top, top + 1, top | 1 << bits - 1} <= codes
        if name in INTEGERS and bits < 8:
            assert AT.size * bits % 8 != 0


FIELDS = {  # the TensorProto fields other than raw_data, with the types that each one stores
    "float_data": ["float", "complex64"],
    "double_data": ["double", "complex128"],
    "int64_data": ["int64"],
    "uint64_data": ["uint32", "uint64"],
}


def in_a_field(value: Codes) -> onnx.TensorProto:
    """A TensorProto that stores codes in its type's own field: numbers directly, codes of other floats and packed bytes
    in int32_data.

    Python makes a signaling NaN of a float quiet on the way.
    """
    tensor = onnx.TensorProto(name=f"held_{value.type}", data_type=CODES[value.type], dims=value.codes.shape)
    name, flat = value.type, value.codes.ravel()
    field = next((field for field, types in FIELDS.items() if name in types), "int32_data")
    if field in ("float_data", "double_data"):
        held = flat.view(np.float32 if field == "float_data" else np.float64).tolist()
    elif BITS[name] < 8:
        held = list(bit_stream(flat, BITS[name]))
    else:
        held = integers(name, flat) if name in INTEGERS else flat.tolist()
    getattr(tensor, field).extend(held)
    return tensor


def test_codes_from_the_fields_of_a_file(folder: Path) -> None:
    graph = Graph(25)
    for name in allowed("Identity", 25, "V"):
        if name != "string":
            value = payload(name)
            graph.held.append(in_a_field(value))
            graph.want("Identity", [graph.held[-1].name], value, any_nan=name in FIELDS["float_data"])
    graph.check(folder)
