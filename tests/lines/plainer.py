"""Drafts for types with too few lines that kill a mutant: the seeds in other sizes, with other data."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.entry import Version
from codegen.value_types import ELEMENTS
from tests.lines.draft import Draft
from tests.lines.plain import held_in, other_values
from tests.lines.ports import REGIMES, filled
from tests.lines.typed import in_type
from tests.lines.vary import attributes, data, empty_boxes, in_turn, lifted, resized


def plainer(version: Version, seeds: list[Draft], constraint: str, type_: str) -> Iterator[Draft]:
    """Drafts of a type, taken from each seed in turn."""
    return in_turn([of_a_type(version, seed, constraint, type_) for seed in seeds])


def of_a_type(version: Version, seed: Draft, constraint: str, type_: str) -> Iterator[Draft]:
    held = [a.name for a in version.attributes if a.kind == "tensor" and type_ in ELEMENTS]
    made = [draft for name in held for draft in held_in(seed, name, type_)]
    made += dict.fromkeys(in_type(version, seed, constraint, type_))
    yield from made
    for draft in made[::-1]:
        yield from other_values(draft)
        yield from empty_boxes(version, [draft])
        for n, other in enumerate([draft, *lifted(version, draft), *resized(version, draft)]):
            yield other
            yield filled(version, other, REGIMES[n % len(REGIMES)])
        yield from data(version, [draft])
        yield from attributes(version, [draft])
