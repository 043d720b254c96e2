"""Kernels of one operator that ask different things of a call but then run the same: the later takes over the run of
the earlier, which is compiled once. Versions and rulings often differ in a rule, an attribute or an extent alone."""

from __future__ import annotations

import re
from collections.abc import Iterable

from codegen.units import Unit


def run_of(unit: Unit) -> tuple:
    """The C++ of a run, without what is for readers."""
    lines = [line for line in unit.body if not line.startswith("#line") and not line.lstrip().startswith("//")]
    return (tuple(unit.templates), tuple(p.declared for p in unit.parameters), unit.main, "\n".join(lines))


def same_members(unit: Unit, earlier: Unit) -> bool:
    """Is every member of `earlier` that its run names one of `unit` too, of the same type?"""
    named = set(re.findall(r"\w+", run_of(earlier)[-1]))
    here = {name: type for type, name, _ in unit.plan.members}
    return all(here.get(name) == type for type, name, _ in earlier.plan.members if name in named)


def share_runs(units: Iterable[Unit]) -> None:
    """Sets `shares` of each of an operator's units that runs as an earlier one does, and `lends` of that one."""
    first: dict[tuple, Unit] = {}
    for unit in units:
        if unit.cast or unit.wholes or not unit.parameters:
            continue
        earlier = first.setdefault(run_of(unit), unit)
        if earlier is not unit and same_members(unit, earlier):
            unit.shares, earlier.lends = earlier, True
