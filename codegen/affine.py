"""Decides if an index expression is affine in a variable, so that a read moves by a constant stride.

Readers (reference/view.h) turn affine reads into pointer increments. A wrong "affine" would read the wrong element, so
any expression of unknown form counts as non-affine.
"""

from __future__ import annotations

from codegen.builtins import BUILTINS, INDICES
from codegen.notation import Expr


def bent(e: Expr, tracked: frozenset[str]) -> frozenset[str]:
    """Returns the tracked variables in which `e` may be non-affine."""
    inside = e.free & tracked
    if not inside:
        return inside
    if e.kind in ("name", "number"):
        return frozenset()
    if e.kind in ("coerce", "negative", "let", "splice", "list"):
        return _all(e.args, tracked)
    if e.kind == "binary" and e.value in "+-":
        return _all(e.args, tracked)
    if e.kind == "binary" and e.value == "*":
        a, b = e.args
        if not a.free & tracked:
            return bent(b, tracked)
        return bent(a, tracked) if not b.free & tracked else inside
    if e.kind == "replace":
        base, at, by = e.args
        return inside if at.free & tracked else bent(base, tracked) | bent(by, tracked)
    if e.kind == "comprehension":
        return bent(e.args[0], tracked) | frozenset().union(*(a.free for a in e.args[1:])) & tracked
    if e.kind == "read" and e.args[0].sort == INDICES:
        return inside if e.args[1].free & tracked else bent(e.args[0], tracked)
    if e.kind == "cond":
        return inside if e.args[0].free & tracked else _all(e.args[1:], tracked)
    if e.kind == "match":
        return inside if e.args[0].free & tracked else _all([a for _, a in e.value], tracked)
    if e.kind == "call" and e.value in BUILTINS and BUILTINS[e.value].linear:
        others = frozenset().union(*(a.free for a in e.args[1:])) if len(e.args) > 1 else frozenset()
        return bent(e.args[0], tracked) | (others & tracked)
    return inside


def _all(parts: list[Expr], tracked: frozenset[str]) -> frozenset[str]:
    return frozenset().union(*(bent(p, tracked) for p in parts))
