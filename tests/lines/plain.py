"""Simpler or other values for drafts of types that have too few lines which kill a mutant (chain.py)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from tests.lines.draft import Box, Draft, Raw, Tensor, Value, written

ZEROS = {"string": "", "float8e8m0": 2.0**-127}  # float8e8m0 has no zero: its smallest number has the code 0
MAP = re.compile(r"(map\(\w+,tensor\((\w+)\)\))\{(.*)\}$")


def without_elements(value: Value) -> Value:
    """The value without elements."""
    if isinstance(value, Box):
        return Box(value.type, ())
    return replace(value, dims=(0,), symbols=()) if isinstance(value, Tensor) else value


def zeroed(value: Value) -> Value:
    if isinstance(value, Box):
        return Box(value.type, tuple(map(zeroed, value.items)))
    return replace(value, data=(ZEROS.get(value.element, 0),)) if isinstance(value, Tensor) and value.size else value


def turned(value: Value) -> Iterator[Value]:
    """The same elements at other positions."""
    if isinstance(value, Tensor) and not isinstance(value.data, str) and len(value.data) > 1:
        yield replace(value, data=(*value.data[1:], value.data[0]))
        yield replace(value, data=value.data[::-1])


def with_keys(seed: Draft, value: Raw) -> Iterator[Raw]:
    """Maps with no keys, and with all keys of the node's vocabularies."""
    if not (said := MAP.match(value.text)):
        return
    for items in ((), *(json.loads(words) for name, words in seed.attributes if "vocabulary" in name)):
        for values in (range(1, 9), (0,), (-3, 2)):
            pairs = (f"{written(key)}:{number(said[2], values[k % len(values)])}" for k, key in enumerate(items))
            yield Raw(value.type, f"{said[1]}{{{','.join(dict.fromkeys(pairs))}}}")


def number(element: str, n: int) -> str:
    return f'"{n}"' if element == "string" else str(n)


def other_values(seed: Draft) -> Iterator[Draft]:
    for k, port in enumerate(seed.ports):
        if port.value is None:
            continue
        yield seed.with_value(k, without_elements(port.value))
        yield seed.with_value(k, zeroed(port.value))
        yield from (seed.with_value(k, value) for value in turned(port.value))
        if isinstance(port.value, Raw):
            yield from (seed.with_value(k, value) for value in with_keys(seed, port.value))


def held_in(seed: Draft, attribute: str, type_: str) -> Iterator[Draft]:
    """Variants of the seed whose attribute is a tensor of this type."""
    for dims in ("1", "", "3", "2,2", "5", "0"):
        for values in ((0,), (1,), (1, 0, 1), (0, 1, 1)):
            data = ",".join(number(type_, n) for n in values[: 1 if dims in ("1", "") else 3])
            yield seed.with_attribute(attribute, f"{type_}[{dims}]{{{data if dims != '0' else ''}}}")
