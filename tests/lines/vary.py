"""Variations of a seed, from the signature alone. The definition decides later which are valid, and which rule refuses
the others (probe.py).

Types come first. Then these alternate: data of each regime, shapes, attributes alone and in pairs, initializers,
symbolic shapes, optional inputs and outputs, and calls that should be refused.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import replace

from codegen.entry import Version
from codegen.value_types import ELEMENTS
from tests.lines.choices import choices
from tests.lines.draft import FLOATS, INTEGERS, Box, Draft, Port, Tensor, retyped
from tests.lines.plain import without_elements, zeroed
from tests.lines.ports import (
    REGIMES,
    allowed_at,
    data_ports,
    filled,
    is_data,
    parameter_of,
    reshaped,
    rotated,
    symbolic,
    tensors,
)
from tests.lines.typed import held_tensors, pairs_of_types, types

WRONG = {
    "int": ["-100", "100", "[1]"],
    "float": ["-1", "0", "1e30", "[1]"],
    "string": ['"no such choice"', '""', "1"],
    "strings": ["[]", '["no such choice"]', '["a","a"]', '["a","b","c","d"]'],
}


def data(version: Version, seeds: list[Draft]) -> Iterator[Draft]:
    for seed in seeds:
        for regime in REGIMES:
            yield filled(version, seed, regime)
        ports = data_ports(version, seed)
        if len(ports) > 1:
            for k, regime in itertools.product(ports, REGIMES[:3]):
                yield filled(version, seed, regime, only=k)


def shapes(version: Version, seeds: list[Draft]) -> Iterator[Draft]:
    for seed in seeds:
        yield from lifted(version, seed)
        yield from resized(version, seed)


def lifted(version: Version, seed: Draft) -> Iterator[Draft]:
    """More dimensions and fewer, of all data inputs and of each one alone."""
    ports = [k for k, value in tensors(seed) if is_data(version, seed, k)]
    for some in [ports, *([k] for k in ports if len(ports) > 1)]:
        for front in ((2,), (1,), (2, 3), (1, 2, 1), (2, 1, 2), (2, 1, 2, 1), (1, 2, 1, 2, 1)):
            made = seed
            for k in some:
                value = seed.ports[k].value
                if len(value.dims) + len(front) <= 6:
                    made = made.with_value(k, reshaped(value, (*front, *value.dims)))
            yield made
            made = seed
            for k in some:
                value = seed.ports[k].value
                if len(value.dims) + len(front) <= 6 and len(front) < 4:
                    made = made.with_value(k, reshaped(value, (*value.dims, *front)))
            yield made
        for drop in (1, 2):
            made = seed
            for k in some:
                value = seed.ports[k].value
                made = made.with_value(k, reshaped(value, value.dims[drop:]))
            yield made


def resized(version: Version, seed: Draft) -> Iterator[Draft]:
    """Other extents: all equal ones together, and each one alone; larger, one, zero."""
    sizes = sorted({n for _, value in tensors(seed) for n in value.dims})
    for n, to in itertools.product(sizes, (0, 1, 2, 3, 4, 5, 7)):
        if n != to:
            made = seed
            for k, value in tensors(seed):
                if is_data(version, seed, k) or len(value.dims) != 1:
                    made = made.with_value(k, reshaped(value, tuple(to if d == n else d for d in value.dims)))
            yield made
    for (k, value), to in itertools.product(tensors(seed), (0, 1, 2, 3, 5)):
        for at in range(len(value.dims)):
            yield seed.with_value(k, reshaped(value, (*value.dims[:at], to, *value.dims[at + 1 :])))


def attributes(version: Version, seeds: list[Draft]) -> Iterator[Draft]:
    listed = {a.name: choices(version, a, seeds)[:24] for a in version.attributes}
    for seed in seeds:
        for name, values in listed.items():
            for value in [*values, None]:
                yield seed.with_attribute(name, value)
    for (a, left), (b, right) in itertools.combinations(listed.items(), 2):
        for n, (x, y) in enumerate(itertools.product(left[:8], right[:8])):
            yield rotated(seeds, n)[0].with_attribute(a, x).with_attribute(b, y)


def presence(version: Version, seeds: list[Draft]) -> Iterator[Draft]:
    """Inputs as initializers, unknown shapes, inputs and outputs that are omitted or requested."""
    outputs = len(version.outputs)
    several = not any(p.variadic for p in version.outputs)
    for seed in seeds:
        for k, port in enumerate(seed.ports):
            if isinstance(port.value, Tensor):
                yield seed.with_port(k, replace(port, held=True))
                rank = len(port.value.dims)
                for symbols in (tuple("nmkpqr"[:rank]), ("?",) * rank):
                    yield seed.with_port(k, replace(port, value=replace(port.value, symbols=symbols)))
            yield seed.with_port(k, Port(None))
        yield replace(seed, ports=tuple(replace(p, held=isinstance(p.value, Tensor)) for p in seed.ports))
        yield symbolic(seed)
        if several:
            for mask in itertools.product("x_", repeat=min(outputs, 4)):
                yield replace(seed, outputs="".join(mask).rstrip("_"))
    yield from borrowed(version, seeds)


def borrowed(version: Version, seeds: list[Draft]) -> Iterator[Draft]:
    """A seed with an input that only another seed has."""
    for one, other in itertools.permutations(seeds[:8], 2):
        for k, port in enumerate(other.ports):
            if port.value is not None and (k >= len(one.ports) or one.ports[k].value is None):
                ports = [*one.ports, *[Port(None)] * (k + 1 - len(one.ports))]
                ports[k] = port
                yield replace(one, ports=tuple(ports))


def breaches(version: Version, seeds: list[Draft]) -> Iterator[Draft]:
    """Violations, one at a time."""
    for seed in seeds:
        for k, value in tensors(seed):
            yield seed.with_value(k, reshaped(value, (1, *value.dims)))
            yield seed.with_value(k, reshaped(value, (2, *value.dims)))
            yield seed.with_value(k, reshaped(value, value.dims[1:]))
            yield seed.with_value(k, reshaped(value, tuple(n + 1 for n in value.dims)))
            yield seed.with_value(k, reshaped(value, (*value.dims, 3)))
            if not isinstance(value.data, str) and value.element in (*INTEGERS, *FLOATS):
                for at, new in itertools.product(range(min(4, len(value.data))), (-100, 100, 0, 1, -1, 2)):
                    yield seed.with_value(k, replace(value, data=(*value.data[:at], new, *value.data[at + 1 :])))
                yield seed.with_value(k, replace(value, data=tuple(value.data[:1])))
            for element in [e for e in ELEMENTS if e not in allowed_at(version, k)][:1]:
                yield seed.with_value(k, retyped(value, element))
        for attribute in version.attributes:
            said = seed.attribute(attribute.name)
            for value in WRONG.get(attribute.kind, []):
                yield seed.with_attribute(attribute.name, value)
            if attribute.kind == "tensor":
                yield seed.with_attribute(attribute.name, "float[2]{1}")
            if attribute.kind in ("ints", "floats"):
                items = json.loads(re.sub(r"\b(nan|inf)\b", "0", said)) if said else []
                same = ([n] * max(1, len(items)) for n in (-1, 0, 100))
                for new in ([], [*items, 1], items[1:], *same, items[:1] * 2, [1, 1], [-100], [1, 2, 3, 4, 5]):
                    yield seed.with_attribute(attribute.name, json.dumps(new).replace(" ", ""))
            yield seed.with_attribute(attribute.name, None)
        for (j, one), (k, other) in itertools.combinations(tensors(seed), 2):  # leading extents that do not broadcast
            yield seed.with_value(j, reshaped(one, (2, *one.dims))).with_value(k, reshaped(other, (3, *other.dims)))
        yield seed.with_attribute("no_such_attribute", "1")
        yield replace(seed, ports=())
        if seed.ports:
            yield replace(seed, ports=(*seed.ports, seed.ports[-1]))
            yield replace(seed, ports=seed.ports * 3)
            yield seed.with_port(0, Port(None))
        yield replace(seed, outputs="x" * (len(version.outputs) + 1))
        for k, port in enumerate(seed.ports):  # later variadic inputs of another type or shape
            if k and isinstance(port.value, Tensor) and parameter_of(version, k).variadic:
                yield seed.with_value(k, reshaped(port.value, (*port.value.dims, 2)))


def empty_boxes(version: Version, seeds: list[Draft]) -> Iterator[Draft]:
    """Containers that are empty, have other lengths, or hold items without elements or of zeros."""
    for seed in seeds:
        for k, port in enumerate(seed.ports):
            if isinstance(port.value, Box):
                items = port.value.items
                for other in ((), items * 2, items[:1], tuple(map(without_elements, items)), tuple(map(zeroed, items))):
                    yield seed.with_value(k, Box(port.value.type, other))


STEPS = (data, shapes, attributes, pairs_of_types, presence, empty_boxes, breaches)


def several_at_once(version: Version, seeds: list[Draft], turns: int) -> Iterator[Draft]:
    """Combinations of two steps at pseudorandom positions, which neither step makes alone."""
    made = {step: list(itertools.islice(step(version, seeds), 4000)) for step in (shapes, attributes, presence)}
    n = 0
    for turn in range(turns):
        for first, second in itertools.permutations(made, 2):
            if not made[first] or not made[second]:
                continue
            n += 1
            base = made[first][(turn * 7919 + n) % len(made[first])]
            options = list(itertools.islice(second(version, [base]), 300))
            if options:
                yield filled(version, options[(turn * 104729 + n) % len(options)], REGIMES[n % len(REGIMES)])


def in_turn(streams: list[Iterator[Draft]]) -> Iterator[Draft]:
    """Takes one draft of each stream in turn, until all have ended."""
    while streams:
        for stream in list(streams):
            draft = next(stream, None)
            if draft is None:
                streams.remove(stream)
            else:
                yield draft


def candidates(version: Version, seeds: list[Draft], widely: bool) -> Iterator[str]:
    """Distinct lines, the seeds first. Unless `widely`, omits steps that a version with the same kernel covers."""
    steps = STEPS if widely else (shapes, breaches)
    rest = in_turn([step(version, seeds) for step in steps])
    also = several_at_once(version, seeds, 40) if widely else iter(())
    seen: set[str] = set()
    for draft in itertools.chain(seeds, types(version, seeds), held_tensors(version, seeds[:3]), rest, also):
        line = str(draft)
        if line not in seen and len(line) <= 700:
            seen.add(line)
            yield line
