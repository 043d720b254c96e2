"""Operators whose entries name a structural template, implemented from the standard's text.

Rules of such entries are often prose instead of notation, so each rule is implemented next to the code that it guards.
"""

from __future__ import annotations

from typing import Any

from tests.independent.refusal import LeftOut
from tests.independent.structural import (
    classifiers,
    containers,
    control,
    draws,
    labels,
    selection,
    strings,
    training,
    vectors,
)

WRITTEN: dict[str, Any] = {}
for _module in (classifiers, containers, control, draws, labels, selection, strings, training, vectors):
    WRITTEN |= _module.WRITTEN


def run(call: Any) -> list[Any]:
    name = call.version.structural or call.version.random
    if name not in WRITTEN:
        raise LeftOut(f"template: {name}")
    return WRITTEN[name](call)
