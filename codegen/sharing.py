"""Deduplicates kernels of one operator that differ in their plans but run the same code.

The later kernel reuses the run of the earlier, which is compiled once. Versions and rulings often differ only in a
rule, an attribute or an extent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from codegen.units import Unit


def run_of(unit: Unit) -> tuple:
    """Returns the C++ of a run, without comments and #line."""
    lines = [line for line in unit.body if not line.startswith("#line") and not line.lstrip().startswith("//")]
    return (tuple(unit.templates), tuple(p.declared for p in unit.parameters), unit.main, "\n".join(lines))


def same_members(unit: Unit, earlier: Unit) -> bool:
    """True if every member of `earlier` that its run names is also a member of `unit`, with the same type."""
    named = set(re.findall(r"\w+", run_of(earlier)[-1]))
    here = {name: type for type, name, _ in unit.plan.members}
    return all(here.get(name) == type for type, name, _ in earlier.plan.members if name in named)


def share_runs(units: Iterable[Unit]) -> None:
    """Sets `shares` of a unit whose run equals that of an earlier unit of its operator, and `is_reused` of that one."""
    first: dict[tuple, Unit] = {}
    for unit in units:
        if unit.cast or unit.wholes or not unit.parameters:
            continue
        earlier = first.setdefault(run_of(unit), unit)
        if earlier is not unit and same_members(unit, earlier):
            unit.shares, earlier.is_reused = earlier, True
