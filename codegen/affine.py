"""Decides if an index expression is affine in a variable, so that a read moves by a constant stride.

Readers (reference/view.h) turn affine reads into pointer increments. A wrong "affine" would read the wrong element, so
any expression of unknown form counts as non-affine.
"""

from __future__ import annotations

from codegen.builtins import BUILTINS, INDICES
from codegen.notation import Expr


def non_affine(e: Expr, tracked: frozenset[str]) -> frozenset[str]:
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
            return non_affine(b, tracked)
        return non_affine(a, tracked) if not b.free & tracked else inside
    if e.kind == "replace":
        base, at, by = e.args
        return inside if at.free & tracked else non_affine(base, tracked) | non_affine(by, tracked)
    if e.kind == "comprehension":
        return non_affine(e.args[0], tracked) | frozenset().union(*(a.free for a in e.args[1:])) & tracked
    if e.kind == "read" and e.args[0].sort == INDICES:
        return inside if e.args[1].free & tracked else non_affine(e.args[0], tracked)
    if e.kind == "cond":
        return inside if e.args[0].free & tracked else _all(e.args[1:], tracked)
    if e.kind == "match":
        return inside if e.args[0].free & tracked else _all([a for _, a in e.value], tracked)
    if e.kind == "call" and e.value in BUILTINS and BUILTINS[e.value].linear:
        others = frozenset().union(*(a.free for a in e.args[1:])) if len(e.args) > 1 else frozenset()
        return non_affine(e.args[0], tracked) | (others & tracked)
    return inside


def _all(parts: list[Expr], tracked: frozenset[str]) -> frozenset[str]:
    return frozenset().union(*(non_affine(p, tracked) for p in parts))
