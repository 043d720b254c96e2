"""Registry of the operators that the numpy runtime computes, and the variants of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.faithful.arithmetic import Arithmetic

Outputs = np.ndarray | tuple[np.ndarray, ...]


class Node:
    """An operator's name, version and attributes, omitted ones with their default."""

    def __init__(self, op: str, since: int, attributes: dict[str, Any], wanted: int = 1):
        self.op, self.since, self.attributes, self.wanted = op, since, attributes, wanted

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.attributes.get(name)


@dataclass(frozen=True)
class Computed:
    """An operator's implementation and its variants.

    `forms` are its formulas, the usual one first. `sums`: the order of additions matters. `functions`: it calls
    elementary functions such as exp.
    """

    run: Callable[..., Outputs]
    forms: tuple[str, ...]
    sums: bool
    functions: bool
    domain: dict[str, Callable[..., bool]] = field(default_factory=dict)


OPERATORS: dict[str, Computed] = {}

Run = Callable[..., Outputs]


def computes(
    *names: str,
    forms: str = "",
    sums: bool = False,
    functions: bool = False,
    domain: dict[str, Callable[..., bool]] | None = None,
) -> Callable[[Run], Run]:
    """Registers run(arithmetic, node, *inputs). `domain` maps a formula (`*`: any) to the inputs on which it is
    faithful.
    """

    def register(run: Run) -> Run:
        for name in names:
            OPERATORS[name] = Computed(run, tuple(forms.split()), sums, functions, domain or {})
        return run

    return register


def form_of(a: Arithmetic, node: Node) -> str:
    forms = OPERATORS[node.op].forms
    return a.form or (forms[0] if forms else "")
