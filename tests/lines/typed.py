"""Variations of a seed's types: of inputs, of types that attributes name, of tensors in attributes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from codegen.entry import Attribute, Version
from codegen.value_types import ELEMENTS
from tests.lines.choices import choices
from tests.lines.draft import Draft, element_of, retyped, type_of
from tests.lines.ports import REGIMES, allowed_at, filled, parameter_of, rotated, symbolic, with_regime


def filled_of(version: Version, draft: Draft, constraint: str, regime: str) -> Draft:
    """The draft with data of a regime in every input of a constraint, even where `is_data` is false."""
    for k, port in enumerate(draft.ports):
        if port.value is not None and parameter_of(version, k).type == constraint:
            draft = draft.with_value(k, with_regime(port.value, regime))
    return draft


def retyped_by(version: Version, draft: Draft, constraint: str, type_: str) -> Draft:
    for k, port in enumerate(draft.ports):
        if port.value is not None and parameter_of(version, k).type == constraint:
            draft = draft.with_value(k, retyped(port.value, type_))
    return draft


def alike(version: Version, draft: Draft, type_: str) -> Draft:
    """The draft with every input in the element type of `type_`, inside its own container."""
    element = re.findall(r"\w+", type_)[-1]
    for k, port in enumerate(draft.ports):
        if port.value is not None and (before := element_of(port.value)):
            wrapped = re.sub(rf"\b{before}\b", element, type_of(port.value))
            if wrapped in allowed_at(version, k):
                draft = draft.with_value(k, retyped(port.value, wrapped))
    return draft


def bound_by_input(version: Version, draft: Draft) -> set[str]:
    given = {parameter_of(version, k).type for k, port in enumerate(draft.ports) if port.value is not None}
    return given & version.types.keys()


def naming_attribute(version: Version, constraint: str) -> Attribute | None:
    """The attribute that selects an output's type, or None."""
    if constraint in {parameter.type for parameter in version.inputs}:
        return None
    for output in version.outputs:
        if output.type == constraint and output.element:
            for name in re.findall(r"type\((\w+)\)", output.element.text):
                attribute = version.attribute(name)
                if attribute and attribute.kind in ("int", "string"):
                    return attribute
    return next((a for a in version.attributes if a.kind == "int" and "dtype" in a.name), None)


def nameable(type_: str) -> str:
    """The element type that an attribute can name for this type, "" if none."""
    element = type_.removeprefix("seq(").removesuffix(")")
    return element if element in ELEMENTS else ""


def named(draft: Draft, attribute: Attribute, type_: str) -> Draft:
    """The draft whose attribute names this type: by its code or, in old versions, by its name."""
    type_ = nameable(type_)
    code = str(ELEMENTS.index(type_) + 1)
    return draft.with_attribute(attribute.name, code if attribute.kind == "int" else f'"{type_.upper()}"')


TENSOR = re.compile(r"(\w+)(\[[\d,]*\])\{(.*)\}$")


def held_tensors(version: Version, seeds: list[Draft]) -> Iterator[Draft]:
    """Variations of the type of a tensor in an attribute."""
    for attribute in version.attributes:
        for seed in seeds if attribute.kind == "tensor" else []:
            said = TENSOR.match(seed.attribute(attribute.name) or "float[1]{1}")
            for element in ELEMENTS if said and '"' not in said[3] else ():
                for values in ("1", "0", "-1,2", said[3]):
                    data = ",".join(f'"{x}"' for x in values.split(",")) if element == "string" else values
                    yield seed.with_attribute(attribute.name, f"{element}{said[2]}{{{data}}}")


def types(version: Version, seeds: list[Draft]) -> Iterator[Draft]:
    """Variations for every type of every constraint, in five turns."""
    for constraint, allowed in version.types.items():
        attribute = naming_attribute(version, constraint)
        own = [seed for seed in seeds if constraint in bound_by_input(version, seed)]
        for turn, type_ in itertools.product(range(5), allowed):
            if attribute and nameable(type_):
                for seed in rotated(seeds, turn)[:1]:
                    made = named(seed, attribute, type_)
                    yield made if turn < 2 else filled(version, made, REGIMES[turn])
            for seed in rotated(own, turn)[:1]:
                made = retyped_by(version, seed, constraint, type_)
                yield made if turn < 2 else filled(version, made, REGIMES[turn - 2])
                if turn > 1:
                    yield filled_of(version, made, constraint, REGIMES[turn])


def in_type(version: Version, seed: Draft, constraint: str, type_: str) -> list[Draft]:
    """The seed in this type: once at the constraint's inputs and attribute, and once at all inputs."""
    attribute = naming_attribute(version, constraint)
    made = retyped_by(version, seed, constraint, type_)
    if attribute and nameable(type_):
        made = named(made, attribute, type_)
    same = alike(version, seed, type_)
    for other in version.types:
        if (naming := naming_attribute(version, other)) and nameable(type_):
            same = named(same, naming, type_)
    return [made, same]


def more_of(version: Version, seeds: list[Draft], missing: list[tuple[str, str]]) -> Iterator[Draft]:
    """Variations for types that are hard to reach: with every seed, and many values of other attributes."""
    for constraint, type_ in missing:
        attribute = naming_attribute(version, constraint)
        for seed in seeds:
            made, same = in_type(version, seed, constraint, type_)
            yield from (made, same, filled(version, same, "whole"), symbolic(same))
            for a in version.attributes:
                if a.kind in ("string", "int") and a is not attribute:
                    yield from (made.with_attribute(a.name, value) for value in choices(version, a, seeds)[:8])
            for regime in ("two", "size", "special", "constant"):
                yield filled(version, made, regime)


def pairs_of_types(version: Version, seeds: list[Draft]) -> Iterator[Draft]:
    """Varies two constraints at once, over at most some 120 pairs of types each."""
    naming = {c: naming_attribute(version, c) for c in version.types}
    for (a, left), (b, right) in itertools.combinations(version.types.items(), 2):
        for n, (x, y) in enumerate(itertools.product(left, right)):
            if n % (1 + len(left) * len(right) // 120):
                continue
            seed = seeds[n % len(seeds)]
            for constraint, type_ in ((a, x), (b, y)):
                if naming[constraint] and type_ in ELEMENTS:
                    seed = named(seed, naming[constraint], type_)
                else:
                    seed = retyped_by(version, seed, constraint, type_)
            yield filled(version, seed, REGIMES[n % 3])
