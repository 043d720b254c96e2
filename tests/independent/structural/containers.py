"""Sequences, optionals and constants. Negative positions count from the end."""

from __future__ import annotations

from typing import Any

from tests.independent.graph import spelled
from tests.independent.indices import count
from tests.independent.refusal import LeftOut, Refusal
from tests.independent.tensors import Optional, Sequence, Tensor, from_array, type_text


def one_number(call: Any, tensor: Tensor, rule: str) -> int:
    call.require(rule, lambda: count(tensor.shape) == 1)
    return tensor.flat()[0]


def at(call: Any) -> list[Any]:
    items = call.inputs["input_sequence"]
    position = one_number(call, call.inputs["position"], "C1")
    call.require("C2", lambda: -len(items) <= position < len(items))
    return [items[position]]


def construct(call: Any) -> list[Any]:
    items = call.inputs["inputs"]
    return [Sequence(items[0].type, list(items))]


def empty(call: Any) -> list[Any]:
    code = call.attributes.get("dtype")
    from tests.independent.runtime import type_of

    return [Sequence("float" if code is None else type_of(code), [])]


def erase(call: Any) -> list[Any]:
    items, position = call.inputs["input_sequence"], call.inputs["position"]
    k = -1 if position is None else one_number(call, position, "C1")
    call.require("C2", lambda: -len(items) <= k < len(items))
    rest = list(items)
    del rest[k]
    return [Sequence(items.of, rest)]


def insert(call: Any) -> list[Any]:
    items, tensor, position = (call.inputs[name] for name in ("input_sequence", "tensor", "position"))
    k = len(items) if position is None else one_number(call, position, "C1")
    call.require("C2", lambda: -len(items) <= k <= len(items))
    call.require("C3", lambda: type_text(tensor) == items.of)
    k = k + len(items) if k < 0 else k
    return [Sequence(items.of, [*items[:k], tensor, *items[k:]])]


def length(call: Any) -> list[Any]:
    return [Tensor("int64", (), [len(call.inputs["input_sequence"])])]


# -- optionals ---------------------------------------------------------------------------------------------------
def make(call: Any) -> list[Any]:
    value, declared = call.inputs["input"], call.attributes.get("type")
    call.require("C1", lambda: value is not None or declared is not None)
    if value is None:
        return [Optional(spelled(declared), None)]
    call.require("C2", lambda: declared is None or spelled(declared) == type_text(value))
    return [Optional(type_text(value), value)]


def has(call: Any) -> list[Any]:
    value = call.inputs["input"]
    there = value is not None and not (isinstance(value, Optional) and value.value is None)
    return [Tensor("bool", (), [there])]


def get(call: Any) -> list[Any]:
    value = call.inputs["input"]
    if not isinstance(value, Optional):
        return [value]
    call.require("C1", lambda: value.value is not None)
    return [value.value]


# -- split and concat --------------------------------------------------------------------------------------------
def split_to_sequence(call: Any) -> list[Any]:
    tensor, split = call.inputs["input"], call.inputs["split"]
    axis, keep = call.attributes["axis"], call.attributes["keepdims"]
    rank = len(tensor.shape)
    call.require("C1", lambda: -rank <= axis < rank)
    axis %= rank
    extent = tensor.shape[axis]
    if split is None:
        lengths = [1] * extent
    else:
        call.require("C2", lambda: len(split.shape) <= 1)
        if split.shape:
            lengths = split.flat()
            call.require("C3", lambda: all(n >= 0 for n in lengths) and sum(lengths) == extent)
        else:
            each = split.only
            call.require("C4", lambda: each > 0)
            lengths = [min(each, extent - k) for k in range(0, extent, each)]
    parts, start = [], 0
    for n in lengths:
        shape = (*tensor.shape[:axis], n, *tensor.shape[axis + 1 :])
        part = Tensor(tensor.type, shape, [v for p, v in tensor.at.items() if start <= p[axis] < start + n])
        if split is None and not keep:
            part = part.view((*shape[:axis], *shape[axis + 1 :]))
        parts.append(part)
        start += n
    return [Sequence(tensor.type, parts)]


def concat_from_sequence(call: Any) -> list[Any]:
    items, axis, fresh = call.inputs["input_sequence"], call.attributes["axis"], call.attributes["new_axis"]
    call.require("C1", lambda: len(items) > 0)
    rank = len(items[0].shape) + (1 if fresh else 0)
    call.require("C2", lambda: -rank <= axis < rank)
    axis %= rank
    if fresh:
        items = [t.view((*t.shape[:axis], 1, *t.shape[axis:])) if len(t.shape) == rank - 1 else t for t in items]
    first = items[0].shape

    def fits(shape: tuple[int, ...]) -> bool:
        return len(shape) == rank and all(
            a == b for k, (a, b) in enumerate(zip(shape, first, strict=True)) if k != axis
        )

    call.require("C3", lambda: all(fits(t.shape) for t in items))
    made = Tensor(items[0].type, (*first[:axis], sum(t.shape[axis] for t in items), *first[axis + 1 :]))
    start = 0
    for t in items:
        for p, value in t.at.items():
            made.at[(*p[:axis], p[axis] + start, *p[axis + 1 :])] = value
        start += t.shape[axis]
    return [made]


def constant(call: Any) -> list[Any]:
    """A constant of any type in every version: Q051."""
    said = call.said
    if len(said) != 1:
        raise Refusal(f"{call.version.name} has {len(said)} values", f"{call.version.name}/C1")
    ((name, value),) = said.items()
    if name == "value":
        made = value
    elif name == "sparse_value":
        made = dense(value)
    else:
        type_ = {"f": "float", "i": "int64", "s": "string"}[name.removeprefix("value_")[0]]
        made = Tensor(type_, (len(value),), list(value)) if name.endswith("s") else Tensor(type_, (), [value])
    return [made]


def dense(sparse: Any) -> Tensor:
    """A sparse tensor's dense form: its elements at their indices, zeros elsewhere."""
    import onnx

    values, places = (from_array(onnx.numpy_helper.to_array(t)) for t in (sparse.values, sparse.indices))
    shape = tuple(sparse.dims)
    if values.type in ("string", "complex64", "complex128"):
        raise LeftOut(f"type: sparse {values.type}")
    made = Tensor(values.type, shape, [False if values.type == "bool" else 0] * count(shape))
    for k, value in enumerate(values.flat()):
        if len(places.shape) == 1:
            linear, point = places.flat()[k], []
            for d in reversed(shape):
                point.insert(0, linear % d)
                linear //= d
            spot = tuple(point)
        else:
            spot = tuple(places.read((k, d)) for d in range(len(shape)))
        made.at[spot] = value
    made.values = None
    return made


WRITTEN = {
    "sequence.at": at, "sequence.construct": construct, "sequence.empty": empty, "sequence.erase": erase,
    "sequence.insert": insert, "sequence.length": length, "optional.make": make,
    "optional.has": has, "optional.get": get,
    "split_to_sequence": split_to_sequence, "concat_from_sequence": concat_from_sequence, "constant": constant,
}  # fmt: skip
