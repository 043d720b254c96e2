"""Cast, CastLike and BitCast: every code of every small type to every type, and values of larger types that are hard to
round.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx.defs
import pytest
from onnx import TensorProto

from tests.codes.casting import cast, float_samples, from_integer, integer_samples, ways
from tests.codes.formats import (
    BITS,
    CODES,
    FLOATS,
    SMALL,
    all_codes,
    float_values,
    floats,
    holder,
    integers,
    is_nan,
    magnitudes,
    nearest,
    special_floats,
)
from tests.codes.graphs import NEWEST, Codes, Graph

SCHEMAS = {
    (s.name, s.since_version): s
    for s in onnx.defs.get_all_schemas_with_history()
    if s.domain == "" and s.name in ("Cast", "CastLike", "BitCast")
}
VERSIONS = {op: [since for name, since in SCHEMAS if name == op] for op in ("Cast", "CastLike", "BitCast")}
REAL = [name for name in BITS if not name.startswith("complex")]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Silences numpy's warnings: these tests overflow on purpose."""
    with np.errstate(all="ignore"):
        yield


def allowed(op: str, since: int, constraint: str) -> list[str]:
    """The numeric types of a version, as the standard lists them."""
    (types,) = (c.allowed_type_strs for c in SCHEMAS[op, since].type_constraints if c.type_param_str == constraint)
    return [name for name in BITS if f"tensor({name})" in types]


def samples(name: str) -> Codes:
    if name in SMALL or BITS[name] == 16 and name in FLOATS:
        return Codes(name, all_codes(name))
    return float_samples(name, special_floats(name)) if name in FLOATS else integer_samples(name)


def code_of_type(to: str, since: int) -> int | str:
    """The attribute `to`: versions before 6 take the type's name instead of its number."""
    return CODES[to] if since >= 6 else TensorProto.DataType.Name(CODES[to])


@pytest.mark.parametrize("source", REAL)
def test_cast(source: str, folder: Path) -> None:
    """Casts each type to every type, by the newest version."""
    graph, value = Graph(), samples(source)
    fed = graph.feed(value)
    for to in REAL:
        for said in ways(to, NEWEST):
            graph.want("Cast", [fed], cast(value, to, **said), to=CODES[to], **said)
    graph.check(folder)


@pytest.mark.parametrize("since", sorted(VERSIONS["Cast"]))
def test_cast_of_every_small_code_by_each_version(since: int, folder: Path) -> None:
    graph = Graph(since)
    for source in allowed("Cast", since, "T1"):
        value = samples(source)
        if source not in SMALL:
            value = value.at(np.arange(0, value.codes.size, 1 + value.codes.size // 200))
        fed = graph.feed(value)
        for to in allowed("Cast", since, "T2"):
            for said in ways(to, since):
                graph.want("Cast", [fed], cast(value, to, **said), to=code_of_type(to, since), **said)
    graph.check(folder)


@pytest.mark.parametrize("since", sorted(VERSIONS["CastLike"]))
def test_cast_like(since: int, folder: Path) -> None:
    graph = Graph(since)
    likes = {to: graph.feed(Codes(to, np.zeros(1, holder(to)))) for to in allowed("CastLike", since, "T2")}
    for source in allowed("CastLike", since, "T1"):
        value = samples(source)
        value = value.at(np.arange(0, value.codes.size, 1 + value.codes.size // 100))
        fed = graph.feed(value)
        for to, like in likes.items():
            for said in ways(to, since):
                graph.want("CastLike", [fed, like], cast(value, to, **said), **said)
    graph.check(folder)


def test_bit_cast(folder: Path) -> None:
    """Every code of up to 16 bits, and random patterns of larger types, to each type of the same width: no bit may
    change.
    """
    graph = Graph()
    types = allowed("BitCast", 26, "T1")
    random = np.random.default_rng(6)
    for source in types:
        if BITS[source] <= 16:
            value = Codes(source, all_codes(source))
        else:
            patterns = random.integers(0, 256, (100, BITS[source] // 8), dtype=np.uint8)
            value = Codes(source, patterns.view(holder(source)).ravel())
        fed = graph.feed(value)
        for to in types:
            if BITS[to] == BITS[source] and to != "bool":
                graph.want("BitCast", [fed], Codes(to, value.codes), to=CODES[to], any_nan=False)
    graph.check(folder)


@pytest.mark.parametrize("name", ["float8e4m3fn", "float8e5m2"])
def test_a_nan_keeps_its_sign_among_float8(name: str, folder: Path) -> None:
    nan = Codes("float", np.array([0x7FC00000, 0xFFC00000], np.uint32))
    quiet_nan = {"float8e4m3fn": [0x7F, 0xFF], "float8e5m2": [0x7E, 0xFE]}[name]
    graph = Graph()
    graph.want("Cast", [nan], Codes(name, np.array(quiet_nan, np.uint8)), to=CODES[name], saturate=0, any_nan=False)
    graph.check(folder)


@pytest.mark.parametrize(("since", "to"), [(NEWEST, "complex64"), (9, "bfloat16"), (13, "float8e5m2"), (1, "int4")])
def test_a_type_that_a_version_lacks_is_refused(since: int, to: str, folder: Path) -> None:
    graph = Graph(since)
    graph.want("Cast", [samples("float")], Codes(to, np.zeros(1, holder(to))), to=code_of_type(to, since))
    done = graph.run(folder)
    assert done.returncode == 3 and "error[model/type]" in done.stderr, done.stderr


def test_bits_that_are_no_bool_are_refused(folder: Path) -> None:
    """BitCast to bool refuses bits other than 0 and 1 (the question of bits that no bool has); files may not hold them
    either.
    """
    graph = Graph()
    good = Codes("uint8", np.array([0, 1, 1], np.uint8))
    graph.want("BitCast", [good], Codes("bool", good.codes), to=CODES["bool"])
    graph.check(folder)
    graph.want("BitCast", [Codes("int8", np.array([1, 2], np.uint8))], Codes("bool", good.codes[:2]), to=CODES["bool"])
    done = graph.run(folder)
    assert done.returncode == 3 and "element 1 is 2" in done.stderr, done.stderr


@pytest.mark.parametrize("source", [name for name in REAL if name != "string"])
def test_texts(source: str, folder: Path) -> None:
    """Numbers to strings that parse back to the same number, integers digit by digit; and strings of any form to
    numbers.
    """
    if source == "float8e8m0":
        value = Codes(source, all_codes(source)[:255])
    else:
        value = samples(source)
        value = value.at(np.arange(0, value.codes.size, 1 + value.codes.size // 700))
    graph = Graph()
    texts = Codes("string", np.array([text.encode() for text in texts_of(value)], object))
    said = {"saturate": 0} if source.startswith("float8") else {}
    said |= {"round_mode": "nearest"} if source == "float8e8m0" else {}
    graph.want("Cast", [texts], value, to=CODES[source], **said)
    if source not in FLOATS:
        graph.want("Cast", [value], texts, to=CODES["string"])
    graph.check(folder)
    if source in FLOATS:
        written = Graph()
        written.want("Cast", [value], texts, to=CODES["string"])
        made = written.outputs(folder)[0]
        read = Codes("double", np.array([float(text) for text in made.codes], np.float64).view(np.uint64))
        back = cast(read, source, 0, "nearest")
        same = (back.codes == value.codes) | (is_nan(source, back.codes) & is_nan(source, value.codes))
        assert same.all(), (made.codes[~same][:5], value.codes[~same][:5])


def texts_of(value: Codes) -> list[str]:
    if value.type in FLOATS:
        return [repr(number) for number in floats(value.type, value.codes).tolist()]
    whole = integers(value.type, value.codes)
    return [str(bool(number) if value.type == "bool" else number) for number in whole]


# Tests of the witness itself.


@pytest.mark.parametrize("name", [name for name in FLOATS if BITS[name] <= 16])
def test_values_are_those_of_ml_dtypes(name: str) -> None:
    others = {"float16": np.float16, "float8e4m3fn": ml_dtypes.float8_e4m3fn, "float8e8m0": ml_dtypes.float8_e8m0fnu}
    others |= {"float6e2m3": ml_dtypes.float6_e2m3fn, "float6e3m2": ml_dtypes.float6_e3m2fn}
    others |= {"float4e2m1": ml_dtypes.float4_e2m1fn, "bfloat16": ml_dtypes.bfloat16}
    others |= {"float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "float8e5m2": ml_dtypes.float8_e5m2}
    others |= {"float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz}
    expected = all_codes(name).view(others[name]).astype(np.float64)
    assert np.array_equal(float_values(name), expected, equal_nan=True)
    assert np.array_equal(np.signbit(float_values(name))[expected == 0], np.signbit(expected)[expected == 0])


@pytest.mark.parametrize("name", [name for name in FLOATS if name != "float8e8m0"])
def test_the_witness_rounds_as_exact_arithmetic(name: str) -> None:
    """Two rounding algorithms agree: comparison with midpoints, and Fractions."""
    random = np.random.default_rng(7)
    top = 2.0**40 if BITS[name] > 16 else float(magnitudes(name)[0][-2])
    points = np.concatenate([random.uniform(-top, top, 200), top * 2.0 ** random.uniform(-30, 0, 200)])
    if BITS[name] <= 16:
        middles = magnitudes(name)[1]
        points = np.concatenate([points, random.choice(middles[:-1], 50)])
    rounded = floats(name, cast(Codes("double", points.view(np.uint64)), name, 0).codes)
    assert [Fraction(value) for value in rounded.tolist()] == [nearest(name, Fraction(x)) for x in points.tolist()]
    whole = [1, 3, 5, 6, 2**20 - 1, 2**24 + 1, 2**53 - 1]
    small = cast(Codes("int64", np.array(whole, np.uint64)), name).codes.tolist()
    assert small == [from_integer(number, name, 1, "up") for number in whole]
