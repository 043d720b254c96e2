"""Candidate values of an attribute in variations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from codegen.entry import MISSING, Attribute, Version
from tests.lines.draft import Draft, written


def said_texts(version: Version) -> list[str]:
    """Quoted words that the definition or a rule compares an attribute with."""
    says = "\n".join([*version.written(), *(rule.that.text for rule in version.rules)])
    return [f'"{word}"' for word in dict.fromkeys(re.findall(r'"(\w+)"', says))]


USUAL = {"int": ["0", "1", "2", "-1", "3", "-2"], "float": ["0", "1", "0.5", "-0.5", "2", "1e-05", "-3"]}


def choices(version: Version, attribute: Attribute, seeds: list[Draft]) -> list[str]:
    """Candidate values of an attribute: those of the cases, the explicit default, and usual numbers."""
    found = [value for seed in seeds for name, value in seed.attributes if name == attribute.name]
    if attribute.default is not MISSING and attribute.default is not None and attribute.kind in KINDS:
        default = attribute.default
        found.append("[" + ",".join(map(written, default)) + "]" if isinstance(default, list) else written(default))
    found += USUAL.get(attribute.kind, [])
    if attribute.kind == "string":
        found += said_texts(version)
    if attribute.kind in ("ints", "floats"):
        found += [changed for value in list(found) for changed in other_lists(value)]
    return list(dict.fromkeys(found))


KINDS = ("int", "float", "string", "ints", "floats", "strings")


def other_lists(said: str) -> Iterator[str]:
    items = json.loads(re.sub(r"\b(nan|inf)\b", "0", said))
    if not all(isinstance(item, int | float) for item in items):
        return
    yield json.dumps(items[::-1]).replace(" ", "")
    yield json.dumps([1] * len(items)).replace(" ", "")
    yield json.dumps([2] * len(items)).replace(" ", "")
    yield json.dumps([0] * len(items)).replace(" ", "")
    yield json.dumps([x - len(items) for x in items]).replace(" ", "")
    yield json.dumps([x + 1 for x in items]).replace(" ", "")
    for k in range(min(3, len(items))):
        yield json.dumps([*items[:k], 1, *items[k + 1 :]]).replace(" ", "")
        yield json.dumps([*items[:k], 2, *items[k + 1 :]]).replace(" ", "")
