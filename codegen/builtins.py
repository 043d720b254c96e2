"""Table of the functions that notation may call, with the sorts each takes and returns.

Each is a C++ function of the same name, so an entry and its kernel use the same names. Functions of indices and lists
are in reference/lists.h, functions of elements in reference/number.h.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from codegen.notation import Expr

# Sorts: index real bool text type | indices reals texts (lists of them) | element predicate (elements compared) |
# tensor family. `element` and `tensor` carry the type constraint they belong to.


@dataclass(frozen=True)
class Sort:
    kind: str
    of: str = ""  # element, tensor, family: a constraint's name or a concrete type

    def __str__(self) -> str:
        return f"{self.kind} of {self.of}" if self.of else self.kind


INDEX, REAL, BOOL, TEXT, TYPE = (Sort(k) for k in ("index", "real", "bool", "text", "type"))
INDICES, REALS, TEXTS, PREDICATE = (Sort(k) for k in ("indices", "reals", "texts", "predicate"))
LIST_OF = {"index": INDICES, "real": REALS, "text": TEXTS}
ITEM_OF = {"indices": INDEX, "reals": REAL, "texts": TEXT}


class Mismatch(Exception):
    """Sorts that do not fit; the text names the expected ones."""


@dataclass(frozen=True)
class Builtin:
    name: str
    give: Callable[[list[Sort]], Sort]  # raises Mismatch
    linear: bool = False  # linear in its first argument (so a read through it keeps its stride)


def _fixed(wanted: str, gives: Sort) -> Callable[[list[Sort]], Sort]:
    """Returns a checker of argument sorts. `wanted` lists kinds separated by blanks: | for alternatives, a trailing ?
    for optional, a trailing * for any number."""
    terms = wanted.split()

    def give(sorts: list[Sort]) -> Sort:
        least = sum(not t.endswith(("?", "*")) for t in terms)
        most = 10**6 if terms and terms[-1].endswith("*") else len(terms)
        if not least <= len(sorts) <= most:
            raise Mismatch(f"takes {wanted}, but {len(sorts)} arguments stand here")
        for k, sort in enumerate(sorts):
            term = terms[min(k, len(terms) - 1)].rstrip("?*")
            if term != "any" and sort.kind not in term.split("|"):
                raise Mismatch(f"takes {wanted}, but argument {k + 1} is {sort}")
        return gives

    return give


def _same_as_first(wanted: str) -> Callable[[list[Sort]], Sort]:
    check = _fixed(wanted, INDEX)

    def give(sorts: list[Sort]) -> Sort:
        check(sorts)
        return sorts[0]

    return give


def _wider(wanted: str) -> Callable[[list[Sort]], Sort]:
    """Sort rule of min, max, clamp: a list takes precedence over an index, a real over an index."""
    check = _fixed(wanted, INDEX)

    def give(sorts: list[Sort]) -> Sort:
        check(sorts)
        for kind in ("element", "indices", "real"):
            for sort in sorts:
                if sort.kind == kind:
                    return sort
        return INDEX

    return give


def _value(sorts: list[Sort]) -> Sort:
    if len(sorts) != 1 or sorts[0].kind != "tensor":
        raise Mismatch("takes an input that is a small tensor")
    return REALS if sorts[0].of.startswith("real:") else INDICES


_table = [
    # tensors
    Builtin("shape", _fixed("tensor", INDICES)),
    Builtin("rank", _fixed("tensor", INDEX)),
    Builtin("dim", _fixed("tensor index", INDEX)),
    Builtin("value", _value),
    Builtin("reals", _fixed("tensor", REALS)),
    Builtin("positions", _fixed("tensor", INDICES)),
    Builtin("steps", _fixed("tensor tensor tensor", INDEX)),
    Builtin("type", _fixed("tensor|index|text", TYPE)),
    Builtin("view", _same_as_first("tensor indices")),
    Builtin("permuted", _same_as_first("tensor indices")),
    # lists
    Builtin("size", _fixed("indices|reals|texts|family", INDEX)),
    Builtin("count", _fixed("indices", INDEX)),
    Builtin("total", _fixed("indices", INDEX)),
    Builtin("replaced", _same_as_first("indices index|indices index|indices"), linear=True),
    Builtin("pick", _same_as_first("indices|reals|texts indices"), linear=True),
    Builtin("head", _same_as_first("indices index"), linear=True),
    Builtin("tail", _same_as_first("indices|reals index"), linear=True),
    Builtin("part", _same_as_first("indices|reals|texts index index"), linear=True),
    Builtin("placed", _same_as_first("indices indices"), linear=True),
    Builtin("without", _same_as_first("indices indices"), linear=True),
    Builtin("unsqueezed", _same_as_first("indices indices"), linear=True),
    Builtin("repeat", _fixed("index index", INDICES)),
    Builtin("contains", _fixed("indices|texts index|text", BOOL)),
    Builtin("position", _fixed("indices index", INDEX)),
    Builtin("distinct", _fixed("indices", BOOL)),
    Builtin("is_permutation", _fixed("indices", BOOL)),
    Builtin("broadcast", _fixed("indices|family indices*", INDICES)),
    Builtin("broadcastable", _fixed("indices|family indices*", BOOL)),
    Builtin("fit", _fixed("indices tensor index?", INDICES), linear=True),
    Builtin("fit_from", _fixed("indices tensor index", INDICES), linear=True),
    Builtin("subscripts", _fixed("text indices", INDICES)),
    Builtin("ravel", _fixed("indices indices", INDEX)),
    Builtin("unravel", _fixed("index indices", INDICES)),
    Builtin("ends", _fixed("family index", INDICES)),
    Builtin("locate", _fixed("indices index", INDEX)),
    # indices, elementwise on lists
    Builtin("wrap", _wider("index|indices index|indices")),
    Builtin("min", _wider("index|indices|real|element index|indices|real|element*")),
    Builtin("max", _wider("index|indices|real|element index|indices|real|element*")),
    Builtin("clamp", _wider("index|indices|real|element index|indices|real|element index|indices|real|element")),
    Builtin("mod", _wider("index|indices index|indices")),
    Builtin("reflect", _wider("index|indices index|indices")),
    Builtin("ceil_div", _wider("index|indices index|indices")),
    Builtin("floor_div", _wider("index|indices index|indices")),
    # conversions between the sorts of number
    Builtin("real", _fixed("index|element", REAL)),
    Builtin("floor_index", _fixed("real", INDEX)),
    Builtin("ceil_index", _fixed("real", INDEX)),
    Builtin("index", _fixed("element index?", INDEX)),
    Builtin("fraction", _fixed("real", REAL)),
    Builtin("cos_of_turn", _fixed("index index", REAL)),
    Builtin("sin_of_turn", _fixed("index index", REAL)),
    Builtin("within", _fixed("index index", INDEX)),
    Builtin("up_to", _fixed("index", INDEX)),
    Builtin("down_to", _fixed("index", INDEX)),
    # elements
    Builtin("is_nan", _fixed("element", PREDICATE)),
    Builtin("is_inf", _fixed("element", PREDICATE)),
    Builtin("independent", _same_as_first("element")),
    Builtin("lower", _fixed("text", TEXT)),
    Builtin("activate", _fixed("text element real real", Sort("element"))),
]
BUILTINS = {b.name: b for b in _table}
COORDINATES = {"cos_of_turn", "sin_of_turn", "within", "up_to", "down_to"}  # defined in reference/coordinates.h

# Primitives without rounding error of their own, so not in spec/primitives.yaml; name -> number of arguments.
EXACT_PRIMITIVES = {
    "abs": 1, "sign": 1, "floor": 1, "ceil": 1, "round_even": 1, "fmod": 2, "mod_floor": 2, "maximum": 2, "minimum": 2,
    "bit_and": 2, "bit_or": 2, "bit_xor": 2, "bit_not": 1, "shift_left": 2, "shift_right": 2,
}  # fmt: skip
TWO_ARGUMENTS = ("pow", "hypot")  # two-argument primitives of spec/primitives.yaml

# Reductions. Each reduction of elements has an accumulator of the same name in reference/number.h.
ELEMENT_REDUCTIONS = ("sum", "prod", "max", "min")
ARG_REDUCTIONS = {"argmax": "FirstLargest", "argmin": "FirstSmallest"}


def accumulator(op: str, term: Expr | None = None) -> str:
    """Returns the C++ accumulator of a reduction of `term`. A sum of independent(..) has an accumulator of its own."""
    return (
        "Independent"
        if op == "sum" and term and term.kind == "call" and term.value == "independent"
        else op.capitalize()
    )
