"""Lookup operators: encoders, mappers, vectorizers. Of equal keys the last one wins."""

from __future__ import annotations

from typing import Any

from tests.independent import elements, formats
from tests.independent.formats import encode, towards_zero
from tests.independent.runtime import convert
from tests.independent.tensors import Map, Sequence, Tensor

MIN, MAX = -(1 << 63), (1 << 63) - 1


def category_columns(call: Any) -> list[Any]:
    x, numbers, texts = (
        call.inputs["X"],
        call.attributes.get("cats_int64s") or (),
        call.attributes.get("cats_strings") or (),
    )
    call.require("C1", lambda: bool(numbers) != bool(texts))
    call.require("C2", lambda: (x.type == "string") == bool(texts))
    column = {one: k for k, one in enumerate(texts or numbers)}
    width = len(texts or numbers)

    def place(value: Any) -> int | None:
        if value.__class__ is float:
            value = 0 if value == 0 else None
        elif not isinstance(value, str):
            value = towards_zero(value)
            value = value if MIN <= value <= MAX else None
        return column.get(value)

    found = [place(value) for value in x.flat()]
    call.require("C3", lambda: call.attributes["zeros"] != 0 or None not in found)
    return [Tensor("float", (*x.shape, width), [int(k == at) for at in found for k in range(width)])]


def cast_map(call: Any) -> list[Any]:
    x, to, form = call.inputs["X"], call.attributes["cast_to"], call.attributes["map_form"]
    most = call.attributes["max_map"]
    call.require("C1", lambda: to in ("TO_FLOAT", "TO_STRING", "TO_INT64"))
    call.require("C2", lambda: form in ("DENSE", "SPARSE") and most >= 0)
    call.require("C3", lambda: form == "DENSE" or all(0 <= key < most for key in x))
    type_ = {"TO_FLOAT": "float", "TO_STRING": "string", "TO_INT64": "int64"}[to]
    row = {key: convert(x[key].only, x[key].type, type_) for key in sorted(x)}
    values = list(row.values()) if form == "DENSE" else [row.get(k, zero(type_)) for k in range(most)]
    return [Tensor(type_, (1, len(values)), values)]


def zero(type_: str) -> Any:
    return "" if type_ == "string" else False if type_ == "bool" else 0


def dict_vectorizer(call: Any) -> list[Any]:
    x, numbers, texts = (
        call.inputs["X"],
        call.attributes.get("int64_vocabulary"),
        call.attributes.get("string_vocabulary"),
    )
    call.require("C4", lambda: (numbers is None) != (texts is None))
    vocabulary = texts if numbers is None else numbers
    call.require("C5", lambda: (x.key == "string") == (numbers is None))
    call.require("C6", lambda: set(x) <= set(vocabulary))
    values = [zero(x.of)] * len(vocabulary)
    for key, one in x.items():
        values[len(vocabulary) - 1 - vocabulary[::-1].index(key)] = one.only
    return [Tensor(x.of, (len(values),), values)]


def map_to_row(call: Any) -> list[Any]:
    return cast_map(call) if call.version.op == "CastMap" else dict_vectorizer(call)


def listed(call: Any, stem: str) -> list[Tensor]:
    """The given lists of keys or values, each as a tensor."""
    made = []
    for name, type_ in (("floats", "float"), ("int64s", "int64"), ("strings", "string")):
        values = call.said.get(f"{stem}_{name}")
        if values is not None:
            made.append(Tensor(type_, (len(values),), list(values)))
    tensor = call.said.get(f"{stem}_tensor")
    return made + ([tensor] if tensor is not None else [])


def key_values(call: Any) -> list[Any]:
    x, all_keys, all_values = call.inputs["X"], listed(call, "keys"), listed(call, "values")
    call.require("C1", lambda: len(all_keys) == 1)
    call.require("C2", lambda: len(all_values) == 1)
    keys, values = all_keys[0], all_values[0]
    call.require("C3", lambda: keys.shape == values.shape and len(keys.shape) == 1)
    call.require("C4", lambda: keys.type == x.type)
    default = call.said.get("default_tensor")
    if default is not None:
        call.require("C5", lambda: len(default.flat()) == 1 and default.type == values.type)
        other = default.only
    else:
        kind = formats.FORMATS[values.type].kind
        name = {"string": "default_string", "integer": "default_int64", "float": "default_float"}[kind]
        other = elements.of_type(values.type).of(call.attributes[name])
    by_bits = call.version.since == 2

    def key(value: Any) -> Any:
        if value.__class__ is float and value != value:
            return encode(x.type, value) if by_bits else "nan"
        return ("-0",) if by_bits and value.__class__ is float and value == 0 else value

    table = {key(k): v for k, v in zip(keys.flat(), values.flat(), strict=True)}
    call.bind("T2", values.type)
    return [Tensor(values.type, x.shape, [table.get(key(v), other) for v in x.flat()])]


def label_lists(call: Any) -> list[Any]:
    x = call.inputs["X"]
    if call.version.op == "CategoryMapper":
        numbers, texts = call.attributes.get("cats_int64s") or (), call.attributes.get("cats_strings") or ()
        call.require("C1", lambda: len(numbers) == len(texts))
    else:
        texts = call.attributes.get("classes_strings") or ()
        numbers = tuple(range(len(texts)))
    if x.type == "string":
        table, other, type_ = dict(zip(texts, numbers, strict=True)), call.attributes["default_int64"], "int64"
    else:
        table, other, type_ = dict(zip(numbers, texts, strict=True)), call.attributes["default_string"], "string"
    return [Tensor(type_, x.shape, [table.get(v, other) for v in x.flat()])]


def rows_to_maps(call: Any) -> list[Any]:
    x, numbers, texts = (
        call.inputs["X"],
        call.attributes.get("classlabels_int64s"),
        call.attributes.get("classlabels_strings"),
    )
    call.require("C1", lambda: (numbers is None) != (texts is None))
    call.require("C2", lambda: len(x.shape) in (1, 2))
    labels = texts if numbers is None else numbers
    call.require("C3", lambda: x.shape[-1] == len(labels))
    key = "string" if numbers is None else "int64"
    rows = [x.flat()] if len(x.shape) == 1 else [[x.at[r, k] for k in range(len(labels))] for r in range(x.shape[0])]
    maps = [Map(key, "float", {k: Tensor("float", (), [v]) for k, v in zip(labels, row, strict=True)}) for row in rows]
    return [Sequence(f"map({key},float)", maps)]


WRITTEN = {
    "category_columns": category_columns, "map_to_row": map_to_row, "key_values": key_values,
    "label_lists": label_lists,
    "rows_to_maps": rows_to_maps,
}  # fmt: skip
