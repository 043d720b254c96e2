"""Values survive a round trip: every element type, every array layout, strings, sequences, optionals, maps."""

from __future__ import annotations

import sys
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
import touchstone
from onnx import TensorProto, helper
from touchstone import types

from tests.python import models

# The types that the newest Identity allows: all of the standard's at this opset.
CODES = sorted(set(types.DTYPES) & set(TensorProto.DataType.values()))
SMALL = [code for code in CODES if types.DTYPES[code].itemsize == 1 and types.DTYPES[code] != np.bool_]


def through(value: Any, kind: onnx.TypeProto) -> Any:
    (out,) = touchstone.InferenceSession(models.handed_on(kind), runtime="reference").run(None, {"x": value})
    return out


def every_code(code: int) -> np.ndarray:
    """All values of a small type, each once, in numpy's representation."""
    bits = {row[0]: row[2] for row in touchstone._native.element_types()}[code]
    codes = np.arange(1 << bits, dtype=np.int64)
    if code in (TensorProto.INT4, TensorProto.INT2):  # sign-extended to a byte
        codes[len(codes) // 2 :] -= len(codes)
    return codes.astype(np.int8 if codes.min() < 0 else np.uint8).view(types.DTYPES[code])


def some(code: int, shape: tuple[int, ...]) -> np.ndarray:
    """Elements that differ in every byte."""
    dtype = types.DTYPES[code]
    count = int(np.prod(shape, dtype=np.int64))
    if code in SMALL:
        return np.resize(every_code(code), count).reshape(shape)
    if dtype == np.bool_:
        return (np.arange(count) % 3 == 0).reshape(shape)
    raw = (np.arange(count * dtype.itemsize, dtype=np.int64) * 89 % 251 + 1).astype(np.uint8)
    return raw.view(dtype).reshape(shape)


def assert_same(out: np.ndarray, given: np.ndarray) -> None:
    native = given.astype(given.dtype.newbyteorder("="))
    assert out.dtype == native.dtype
    assert out.shape == given.shape
    assert out.tobytes() == native.tobytes()


def test_the_table_of_types_is_that_of_the_onnx_package() -> None:
    assert {code: np.dtype(helper.tensor_dtype_to_np_dtype(code)) for code in CODES} == {
        code: types.DTYPES[code] for code in CODES
    }
    missing = set(TensorProto.DataType.values()) - set(types.DTYPES) - {TensorProto.UNDEFINED, TensorProto.STRING}
    assert not missing


@pytest.mark.parametrize("code", CODES, ids=TensorProto.DataType.Name)
def test_each_type_of_elements(code: int) -> None:
    given = some(code, (3, 5))
    assert_same(through(given, models.tensor(code)), given)


@pytest.mark.parametrize("code", SMALL, ids=TensorProto.DataType.Name)
def test_every_code_of_a_small_type(code: int) -> None:
    given = every_code(code)
    assert len(set(given.tobytes())) == len(given) > 3
    assert_same(through(given, models.tensor(code)), given)


@pytest.mark.parametrize("code", [TensorProto.INT4, TensorProto.INT2], ids=TensorProto.DataType.Name)
def test_signs_of_less_than_a_byte(code: int) -> None:
    out = through(every_code(code), models.tensor(code)).astype(np.int32)
    half = len(out) // 2
    assert out.tolist() == [*range(half), *range(-half, 0)]


def unaligned(array: np.ndarray) -> np.ndarray:
    room = np.zeros(array.nbytes + 1, np.uint8)
    out = room[1:].view(array.dtype).reshape(array.shape)
    out[...] = array
    return out


def read_only(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out.flags.writeable = False
    return out


LAYOUTS = {
    "fortran": np.asfortranarray,
    "transposed": lambda array: array.transpose(2, 0, 1),
    "sliced": lambda array: array[:, 1:, ::2],
    "backwards": lambda array: array[::-1, :, ::-1],
    "broadcast": lambda array: np.broadcast_to(array[:, :1], array.shape),
    "unaligned": unaligned,
    "read only": read_only,
    "swapped": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "swapped and sliced": lambda array: array.astype(array.dtype.newbyteorder(">"))[:, ::2],
    "empty": lambda array: array[:, 4:],
    "empty slice": lambda array: array[::2, :0, ::-1],
}
LAID_OUT = [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.COMPLEX64, TensorProto.INT16, TensorProto.BOOL]
LAID_OUT += [TensorProto.BFLOAT16, TensorProto.FLOAT8E4M3FN, TensorProto.INT4]


@pytest.mark.parametrize("code", LAID_OUT, ids=TensorProto.DataType.Name)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout(layout: str, code: int) -> None:
    array = some(code, (3, 4, 6))
    if "swapped" in layout and array.dtype.isbuiltin != 1:
        array = some(TensorProto.INT64, (3, 4, 6))  # types of ml_dtypes have only one byte order
        code = TensorProto.INT64
    given = LAYOUTS[layout](array)
    kept = given.tobytes()
    assert_same(through(given, models.tensor(code)), given)
    assert given.tobytes() == kept


def test_scalars() -> None:
    assert_same(through(np.array(2.5, np.float32), models.tensor(TensorProto.FLOAT)), np.array(2.5, np.float32))
    assert_same(through(np.float32(2.5), models.tensor(TensorProto.FLOAT)), np.array(2.5, np.float32))
    given = np.array(3, ml_dtypes.int4)
    assert_same(through(given, models.tensor(TensorProto.INT4)), given)


def test_any_byte_but_zero_is_true() -> None:
    given = np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    out = through(given, models.tensor(TensorProto.BOOL))
    assert out.view(np.uint8).tolist() == [0, 1, 1, 1]


class Foreign:
    """An array of another library, which only supports DLPack."""

    def __init__(self, array: np.ndarray):
        self.array = array

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_what_speaks_dlpack_is_taken() -> None:
    given = some(TensorProto.FLOAT, (2, 3))
    assert_same(through(Foreign(given), models.tensor(TensorProto.FLOAT)), given)


def test_outputs_are_free_to_be_written_to() -> None:
    session = touchstone.InferenceSession(
        models.parsed("g (float[2] x) => (float[2] y, float[2] k) <float[2] k = {1, 2}> { y = Identity(x) }")
    )
    given = np.float32([3, 4])
    for output in session.run(None, {"x": given}):
        output[...] = 9
    assert given.tolist() == [3, 4]
    assert [each.tolist() for each in session.run(None, {"x": given})] == [[3, 4], [1, 2]]


STRINGS = models.tensor(TensorProto.STRING)
TEXTS = ["", "stone", "Prüfstein", "試金石", "\0 inside", "😀"]


def test_strings() -> None:
    given = np.array(TEXTS, dtype=object).reshape(2, 3)
    out = through(given, STRINGS)
    assert out.dtype == object and out.shape == (2, 3) and out.tolist() == given.tolist()
    assert through(np.array(["ab", "c"]), STRINGS).tolist() == ["ab", "c"]
    assert through(np.array([b"ab", b"c"]), STRINGS).tolist() == ["ab", "c"]
    assert through(np.array("one", dtype=object), STRINGS).shape == ()
    assert through(np.empty((0, 2), dtype=object), STRINGS).shape == (0, 2)


def test_strings_in_any_layout() -> None:
    given = np.array(TEXTS, dtype=object).reshape(2, 3)
    for each in (given.T, given[:, ::2], given[::-1], given[1:, 1:]):
        assert through(each, STRINGS).tolist() == each.tolist()


def test_strings_are_copied_and_neither_leak_nor_vanish() -> None:
    text = "a text that only this test has"
    given = np.array([text, text], dtype=object)
    session = touchstone.InferenceSession(models.handed_on(STRINGS))
    held = sys.getrefcount(text)
    for _ in range(3):
        (out,) = session.run(None, {"x": given})
    assert sys.getrefcount(text) == held
    of_output = sys.getrefcount(out[0])
    assert of_output == 2  # of the array, and of the call that counts
    out[...] = "other"
    assert given.tolist() == [text, text] and session.run(None, {"x": given})[0].tolist() == [text, text]


def test_bytes_that_are_no_text_come_back() -> None:
    (out,) = through(np.array([b"\xff\x80a"], dtype=object), STRINGS)
    assert out.encode("utf-8", "surrogateescape") == b"\xff\x80a"
    assert through(np.array([out], dtype=object), STRINGS).tolist() == [out]


@pytest.mark.parametrize("element", [None, 3, "\ud800"])
def test_what_is_no_string_is_refused(element: Any) -> None:
    with pytest.raises(touchstone.Error) as caught:
        through(np.array(["a", element], dtype=object), STRINGS)
    assert caught.value.rule == "feed/type" and caught.value.place == "input 'x', main graph"


FLOATS = helper.make_sequence_type_proto(models.tensor(TensorProto.FLOAT))


def test_sequences() -> None:
    given = [some(TensorProto.FLOAT, (2,)), some(TensorProto.FLOAT, (0, 3)), some(TensorProto.FLOAT, ())]
    out = through(given, FLOATS)
    assert isinstance(out, list) and len(out) == 3
    for one, other in zip(out, given, strict=True):
        assert_same(one, other)
    assert through([], FLOATS) == []
    assert through(tuple(given[:1]), FLOATS)[0].tolist() == given[0].tolist()
    (texts,) = through([np.array(TEXTS, dtype=object)], helper.make_sequence_type_proto(STRINGS))
    assert texts.tolist() == TEXTS


def test_an_item_of_another_type_is_refused() -> None:
    for given in ([np.float32([1]), np.float64([1])], [np.float32([1]), [np.float32([1])]], np.float32([1])):
        with pytest.raises(touchstone.Error) as caught:
            through(given, FLOATS)
        assert caught.value.rule == "feed/type" and caught.value.place == "input 'x', main graph"


def test_optionals() -> None:
    kind = helper.make_optional_type_proto(models.tensor(TensorProto.FLOAT))
    assert through(None, kind) is None
    assert_same(through(np.float32([1, 2]), kind), np.float32([1, 2]))
    of_sequence = helper.make_optional_type_proto(FLOATS)
    assert through(None, of_sequence) is None
    assert through([], of_sequence) == []
    assert through([np.float32([7])], of_sequence)[0].tolist() == [7]


def test_an_optional_says_whether_it_holds_something() -> None:
    kind = helper.make_optional_type_proto(models.tensor(TensorProto.FLOAT))
    x, y = helper.make_value_info("x", kind), helper.make_tensor_value_info("y", TensorProto.BOOL, [])
    graph = helper.make_graph([helper.make_node("OptionalHasElement", ["x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    session = touchstone.InferenceSession(model.SerializeToString())
    assert [session.run(None, {"x": each})[0].item() for each in (None, np.float32([1]))] == [False, True]


def maps(key: int, value: int, operator: str, **attributes: Any) -> bytes:
    kind = onnx.TypeProto(map_type=onnx.TypeProto.Map(key_type=key, value_type=models.tensor(value)))
    x, y = helper.make_value_info("x", kind), helper.make_tensor_value_info("y", value, None)
    node = helper.make_node(operator, ["x"], ["y"], domain="ai.onnx.ml", **attributes)
    graph = helper.make_graph([node], "g", [x], [y])
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10).SerializeToString()


def test_maps_go_in() -> None:
    by_text = maps(TensorProto.STRING, TensorProto.FLOAT, "DictVectorizer", string_vocabulary=["a", "b", "c"])
    (out,) = touchstone.InferenceSession(by_text).run(None, {"x": {"c": 3.5, "a": np.float32(1)}})
    assert out.reshape(-1).tolist() == [1, 0, 3.5]
    by_number = maps(TensorProto.INT64, TensorProto.DOUBLE, "DictVectorizer", int64_vocabulary=[5, 7])
    (out,) = touchstone.InferenceSession(by_number).run(None, {"x": {7: 2.0}})
    assert out.reshape(-1).tolist() == [0, 2] and out.dtype == np.float64


@pytest.mark.parametrize("given", [{1: 2.0}, {"a": "b"}, [("a", 1.0)], {"a": [1.0, 2.0]}, 3.0])
def test_what_is_no_such_map_is_refused(given: Any) -> None:
    model = maps(TensorProto.STRING, TensorProto.FLOAT, "DictVectorizer", string_vocabulary=["a"])
    with pytest.raises(touchstone.Error):
        touchstone.InferenceSession(model).run(None, {"x": given})


def test_maps_come_out() -> None:
    kind = onnx.TypeProto(
        map_type=onnx.TypeProto.Map(key_type=TensorProto.STRING, value_type=models.tensor(TensorProto.FLOAT))
    )
    y = helper.make_value_info("y", helper.make_sequence_type_proto(kind))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2])
    node = helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_strings=["cat", "dog"])
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 1)]
    model = helper.make_model(helper.make_graph([node], "g", [x], [y]), opset_imports=imports, ir_version=10)
    session = touchstone.InferenceSession(model.SerializeToString())
    assert session.get_outputs()[0].type == "seq(map(string,tensor(float)))"
    (out,) = session.run(None, {"x": np.float32([[0.5, 2], [3, 4]])})
    assert out == [{"cat": 0.5, "dog": 2}, {"cat": 3, "dog": 4}]
    assert all(type(each) is float for row in out for each in row.values())


LARGE = models.parsed("g (float[n,40000] x) => (float[n,40000] y, float[n,40000] z) { y = Neg(x) z = Identity(y) }")


@pytest.mark.parametrize("settings", [{}, {"memory_limit": 1 << 30}])
@pytest.mark.parametrize("names", [["y", "z"], ["y", "y", "z"]])
def test_large_outputs_are_the_callers_to_keep_and_change(settings: dict[str, int], names: list[str]) -> None:
    session = touchstone.InferenceSession(LARGE, **settings)
    made = [session.run(names, {"x": np.full((2, 40000), k, np.float32)}) for k in range(5)]
    for k, (y, *others) in enumerate(made):
        assert y.flags.writeable
        y[:] = 7
        assert all((other == -k).all() for other in others)
    del session
    assert all((y == 7).all() and (others[-1] == -k).all() for k, (y, *others) in enumerate(made))


def test_bools_of_any_byte_are_true() -> None:
    session = touchstone.InferenceSession(models.parsed("g (bool[n] x) => (bool[n] y) { y = Identity(x) }"))
    for size in (0, 1, 7, 8, 9, 40):
        x = np.arange(size, dtype=np.uint8) % 3
        (y,) = session.run(None, {"x": x.view(np.bool_)})
        assert (y.view(np.uint8) == (x != 0)).all(), size
