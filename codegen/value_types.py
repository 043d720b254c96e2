"""Spelling and order of value types in entries, and their translation to the standard's spelling.

An entry writes a tensor's type bare (float), and seq(float), optional(seq(float)), map(int64,float), sparse(float). A
group (spec/type_groups.yaml) may replace a tensor's type: seq(all) is a list of sequences.
"""

from __future__ import annotations

import re
from pathlib import Path

from codegen.entry import SpecError
from codegen.lines import Map, load

# Ordered by their codes in the file format, from 1.
ELEMENTS = (
    "float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16", "double", "uint32",
    "uint64", "complex64", "complex128", "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
    "uint4", "int4", "float4e2m1", "float8e8m0", "uint2", "int2", "float6e2m3", "float6e3m2",
)  # fmt: skip
_CODE = {name: code for code, name in enumerate(ELEMENTS, 1)}
_WRAPPERS = ("seq", "optional", "sparse")
_WRAPPED = re.compile(r"(\w+)\((.*)\)\Z")

Groups = dict[str, list[str]]


def load_groups(root: Path) -> Groups:
    """Reads type_groups.yaml of the spec at `root`; a group may use those above it."""
    file = root / "type_groups.yaml"
    path = f"{root.name}/{file.name}"
    document = load(file, path)
    if not isinstance(document, Map):
        raise SpecError(path, 1, "groups are a map from a name to a list of types")
    groups: Groups = {}
    for name, items in document.items():
        line = document.lines[name]
        if name in _CODE or not isinstance(items, list):
            raise SpecError(path, line, f"'{name}' is a type's name, or not a list")
        members: list[str] = []
        for item in items:
            try:
                members += expand(str(item), groups)
            except ValueError as error:
                raise SpecError(path, line, str(error)) from error
        groups[name] = in_order(members)
    return groups


def expand(item: str, groups: Groups) -> list[str]:
    """Expands an item of a list to types. Raises ValueError if it is no type and no group."""
    if item in groups:
        return list(groups[item])
    wrapped = _WRAPPED.match(item)
    if wrapped and wrapped[1] in _WRAPPERS:
        return [f"{wrapped[1]}({inner})" for inner in expand(wrapped[2], groups)]
    if wrapped and wrapped[1] == "map":
        key, comma, value = wrapped[2].partition(",")
        if comma and key in _CODE:
            return [f"map({key},{inner})" for inner in expand(value, groups)]
    if item in _CODE:
        return [item]
    raise ValueError(f"'{item}' is neither a type nor a group of types")


def in_order(types: list[str]) -> list[str]:
    """Returns each type once: tensors by code, then sequences, optionals, sparse tensors, maps."""
    return sorted(set(types), key=_rank)


def to_standard(type_: str) -> str:
    """seq(float) -> seq(tensor(float)); text that is no value type (a constraint's name) is unchanged."""
    if type_ in _CODE:
        return f"tensor({type_})"
    wrapped = _WRAPPED.match(type_)
    if not wrapped:
        return type_
    if wrapped[1] == "map":
        key, _, value = wrapped[2].partition(",")
        return f"map({key}, {value if value in _CODE else to_standard(value)})"
    if wrapped[1] == "sparse":
        return f"sparse_tensor({wrapped[2]})"
    return f"{wrapped[1]}({to_standard(wrapped[2])})"


def to_text(type_: str) -> str:
    """Returns the spelling of core/types.h. The standard writes a map with its element type, but its values are
    tensors."""
    return re.sub(r"map\((\w+), (\w+)\)", r"map(\1,tensor(\2))", to_standard(type_))


def from_standard(type_: str) -> str:
    """seq(tensor(float)) -> seq(float), the inverse of to_standard."""
    wrapped = _WRAPPED.match(type_)
    if not wrapped:
        return type_
    if wrapped[1] == "tensor":
        return wrapped[2]
    if wrapped[1] == "sparse_tensor":
        return f"sparse({wrapped[2]})"
    if wrapped[1] == "map":
        key, _, value = wrapped[2].partition(",")
        return f"map({key},{from_standard(value.strip())})"
    return f"{wrapped[1]}({from_standard(wrapped[2])})"


def _rank(type_: str) -> tuple[int, ...]:
    if type_ in _CODE:
        return (0, _CODE[type_])
    wrapped = _WRAPPED.match(type_)
    if not wrapped:
        return (9,)
    if wrapped[1] == "map":
        key, _, value = wrapped[2].partition(",")
        return (8, _CODE[key], *_rank(value))
    return (1 + _WRAPPERS.index(wrapped[1]), *_rank(wrapped[2]))
