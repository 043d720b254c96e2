"""Constants of a definition: what cannot depend on a case, such as `let linear = false` of an old version.

Edits that by construction change nothing are left out, by three rules:
- those of the branch that a constant condition never takes
- those of a reduction over an empty range, except of its operation
- those that only drop or invert a neutral element (`x * 1 -> x / 1`, `x - 0 -> x`)
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable

from codegen.notation import Expr, Statement

COMPARE = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
LITERALS = {"true": True, "false": False}
Constant = bool | float
Constants = dict[str, Constant]
NO_CONSTANTS: Constants = {}
NEUTRAL = {"+": 0, "-": 0, "*": 1, "/": 1}


def constants_of(statements: Iterable[Statement]) -> Constants:
    """Names that one `let` binds to a constant; a list that repeats a constant counts as that constant."""
    lets = [s for s in statements if s.kind == "let" and s.value is not None]
    count = Counter(s.name for s in lets)
    found: Constants = {}
    for s in lets:
        value = folded(s.value, found)
        if value is not None and count[s.name] == 1:
            found[s.name] = value
    return found


def folded(e: Expr, known: Constants) -> Constant | None:
    """The constant that e is, None if it may depend on a case."""
    if e.kind in ("number", "real"):
        return float(e.value)
    if e.kind == "name":
        return LITERALS.get(e.value, known.get(e.value))
    if e.kind == "call" and e.value == "repeat" or e.kind == "read" and e.args[0].kind == "name" and not e.value:
        return folded(e.args[0], known)  # an element of a list that repeats a constant
    if e.kind == "cond":
        return folded(taken(e, known), known) if taken(e, known) is not None else None
    if e.kind == "compare":
        sides = [folded(side, known) for side in e.args]
        return None if None in sides else COMPARE[e.value](*sides)
    return None


def taken(e: Expr, known: Constants) -> Expr | None:
    """The branch that an `if` always takes, None if either may be taken."""
    condition = folded(e.args[0], known)
    return None if condition is None else e.args[1 if condition else 2]


def never_taken(e: Expr, known: Constants) -> Expr | None:
    if e.kind != "cond" or (always := taken(e, known)) is None:
        return None
    return e.args[2] if always is e.args[1] else e.args[1]


def is_empty(e: Expr, known: Constants) -> bool:
    """True for a reduction over a range without elements."""
    ranges = [b for b in e.value["binders"] if b["kind"] == "range"]
    ends = [(folded(b["low"], known), folded(b["high"], known)) for b in ranges]
    return any(low is not None and high is not None and high <= low for low, high in ends)


def changes_nothing(change: str, e: Expr, known: Constants) -> bool:
    """True for an edit of a binary expression that only drops or inverts a neutral element."""
    neutral = NEUTRAL.get(e.value)
    left, right = (folded(side, known) for side in e.args)
    if right == neutral is not None:
        return change.startswith(f"{e.value} -> ") or change.startswith("the left of")
    return e.value in "+*" and left == neutral and change.startswith("the right of")
