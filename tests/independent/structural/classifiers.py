"""Linear classifiers and ensembles of trees."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tests.independent import arithmetic as a
from tests.independent.refusal import LeftOut
from tests.independent.tensors import Tensor

TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


def probit(s: Any) -> Any:
    """The closed form that approximates the quantile of the normal distribution (spec/parts.yaml, transformed)."""
    q = a.sub(a.mul(2, s), 1)
    logarithm = a.log(a.mul(a.sub(1, q), a.add(1, q)))
    v = a.add(Fraction("4.330746750799873"), a.div(logarithm, 2))
    root = a.sqrt(a.sub(a.sqrt(a.sub(a.mul(v, v), a.div(logarithm, Fraction("0.147")))), v))
    return a.mul(a.mul(Fraction("1.41421356"), a.sign(q)), root)


def transformed(row: list[Any], kind: str) -> list[Any]:
    if kind == "NONE" or not row:
        return row
    if kind == "LOGISTIC":
        return [a.sigmoid(s) for s in row]
    if kind == "PROBIT":
        return [probit(s) for s in row]
    most = row[0]
    for s in row:
        most = a.maximum(most, s)
    powers = [0 if kind == "SOFTMAX_ZERO" and s == 0 else a.exp(a.sub(s, most)) for s in row]
    whole = a.total(powers)
    return [0 if kind == "SOFTMAX_ZERO" and whole == 0 else a.div(p, whole) for p in powers]


def rows_of(x: Tensor) -> list[list[Any]]:
    if len(x.shape) == 1:
        return [x.flat()]
    return [[x.at[r, k] for k in range(x.shape[1])] for r in range(x.shape[0])]


def best(scores: list[Any]) -> int:
    """The position of the first maximum; NaN is larger than all numbers."""
    at = 0
    for k, s in enumerate(scores):
        if scores[at] == scores[at] and (s != s or s > scores[at]):
            at = k
    return at


def labels_of(call: Any, numbers: str, rule: str) -> tuple[str, Any]:
    ints, texts = call.attributes.get(numbers) or (), call.attributes.get("classlabels_strings") or ()
    call.require(rule, lambda: bool(ints) != bool(texts))
    return ("string", texts) if texts else ("int64", ints)


def linear(call: Any) -> list[Any]:
    x, said = call.inputs["X"], call.attributes.get
    call.require("C1", lambda: len(x.shape) in (1, 2))
    type_, labels = labels_of(call, "classlabels_ints", "C2")
    features, coefficients, intercepts = x.shape[-1], said("coefficients"), said("intercepts")
    classes = len(labels)
    call.require(
        "C3", lambda: len(coefficients) == classes * features or (classes == 2 and len(coefficients) == features)
    )
    lines = classes if len(coefficients) == classes * features else 1
    call.require("C4", lambda: intercepts is None or len(intercepts) == lines)
    call.require("C5", lambda: said("post_transform") in TRANSFORMS)
    chosen, scores = [], []
    for row in rows_of(x):
        own = []
        for k in range(lines):
            terms = [a.mul(v, coefficients[k * features + f]) for f, v in enumerate(row)]
            own.append(a.total([*terms, *([intercepts[k]] if intercepts is not None else [])]))
        if lines < classes:
            own = [a.neg(own[0]), own[0]]
        chosen.append(labels[best(own)])
        scores += transformed(own, said("post_transform"))
    return [Tensor(type_, (len(chosen),), chosen), Tensor("float", (len(chosen), classes), scores)]


# -- trees -------------------------------------------------------------------------------------------------------
BRANCHES: dict[str, Callable[[Any, Any], bool]] = {
    "BRANCH_LEQ": lambda x, y: x <= y, "BRANCH_LT": lambda x, y: x < y, "BRANCH_GTE": lambda x, y: x >= y,
    "BRANCH_GT": lambda x, y: x > y, "BRANCH_EQ": lambda x, y: x == y, "BRANCH_NEQ": lambda x, y: x != y,
}  # fmt: skip


def gathered(leaves: list[list[tuple[int, Any]]], targets: int, how: str, trees: int) -> list[Any]:
    """Aggregates the votes of the reached leaves for each target; 0 for a target without votes."""
    row = []
    for target in range(targets):
        votes = [weight for leaf in leaves for t, weight in leaf if t == target]
        if how in ("MIN", "MAX"):
            made = votes[0] if votes else 0
            for vote in votes:
                made = (a.minimum if how == "MIN" else a.maximum)(made, vote)
        else:
            made = a.total(votes)
        row.append(a.div(made, trees) if how == "AVERAGE" and trees else made)
    return row


def ensemble(call: Any) -> list[Any]:
    x, said = call.inputs["X"], call.attributes.get
    targets, leaf_targets, weights = said("n_targets") or 0, said("leaf_targetids"), said("leaf_weights")
    features, splits, modes = said("nodes_featureids"), said("nodes_splits"), said("nodes_modes")
    n = len(features)
    call.require("C1", lambda: len(x.shape) == 2)
    call.require("C2", lambda: targets > 0 and all(0 <= t < targets for t in leaf_targets))
    call.require("C3", lambda: len(weights.flat()) == len(leaf_targets) and weights.type == x.type)
    ways = [said(f"nodes_{name}") for name in ("falsenodeids", "truenodeids", "falseleafs", "trueleafs")]
    tracks = said("nodes_missing_value_tracks_true")
    call.require("C4", lambda: all(len(w) == n for w in ways) and len(splits.flat()) == n and splits.type == x.type
                 and len(modes.flat()) == n and (tracks is None or len(tracks) == n))  # fmt: skip
    call.require("C5", lambda: all(0 <= f < x.shape[1] for f in features))

    def ends() -> bool:
        found = all(0 <= root < n for root in said("tree_roots"))
        for side in (0, 1):
            found &= all(
                0 <= k < (len(leaf_targets) if leaf else n) for k, leaf in zip(ways[side], ways[side + 2], strict=True)
            )
        return found

    call.require("C6", ends)
    call.require("C7", lambda: modes.type == "uint8" and all(m < 7 for m in modes.flat()))
    sets = members(call, modes.flat(), said("membership_values"), x.type)
    call.require("C9", lambda: 0 <= said("aggregate_function") < 4)
    call.require("C10", lambda: 0 <= said("post_transform") < 5)
    kinds = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]

    def reached(row: list[Any], node: int) -> int:
        for _ in range(n + 1):
            value, mode = row[features[node]], modes.flat()[node]
            if value != value:  # of NaN the mode is not asked
                goes = bool(tracks is not None and tracks[node])
            else:
                goes = value in sets[node] if mode == 6 else BRANCHES[kinds[mode]](value, splits.flat()[node])
            if ways[2 + goes][node]:
                return ways[goes][node]
            node = ways[goes][node]
        raise LeftOut("tree: a tree that never ends")

    values: list[Any] = []
    how = ("AVERAGE", "SUM", "MIN", "MAX")[said("aggregate_function")]
    for row in rows_of(x):
        leaves = [reached(row, root) for root in said("tree_roots")]
        votes = [[(leaf_targets[leaf], weights.flat()[leaf])] for leaf in leaves]
        values += transformed(gathered(votes, targets, how, len(leaves)), TRANSFORMS[said("post_transform")])
    return [Tensor(x.type, (x.shape[0], targets), values)]


def members(call: Any, modes: list[int], values: Tensor | None, type_: str) -> dict[int, list[Any]]:
    """Member sets by node, in node order; NaN separates the sets, and is optional after the last one."""
    asking = [k for k, mode in enumerate(modes) if mode == 6]
    sets: list[list[Any]] = [[]]
    for value in values.flat() if values is not None else []:
        if value != value:
            sets.append([])
        else:
            sets[-1].append(value)
    if not sets[-1]:
        sets.pop()
    call.require("C8", lambda: len(sets) == len(asking) and (values is None or values.type == type_))
    return dict(zip(asking, sets, strict=True))


def votes(call: Any) -> list[Any]:
    x, said = call.inputs["X"], call.attributes.get
    classify = call.version.op == "TreeEnsembleClassifier"
    call.require("C1", lambda: len(x.shape) == 2)
    type_, labels = labels_of(call, "classlabels_int64s", "C2") if classify else ("float", ())
    stem = "class" if classify else "target"

    def listed(name: str) -> Any:
        """An attribute as a tuple, given either as a list or as a tensor (of doubles, if the inputs are)."""
        tensor = said(f"{name}_as_tensor")
        if tensor is None:
            return said(name) or ()
        return tuple(tensor.flat())

    call.require("C3", lambda: said("post_transform") in TRANSFORMS)
    twice = ("nodes_values", f"{stem}_weights", "base_values", "nodes_hitrates")
    if call.version.since >= 3:
        call.require("C13", lambda: not any(n in call.said and f"{n}_as_tensor" in call.said for n in twice))
    trees, ids, modes = (said(f"nodes_{name}") or () for name in ("treeids", "nodeids", "modes"))
    n = len(trees)
    features, values, tracks = (
        said("nodes_featureids") or (),
        listed("nodes_values"),
        said("nodes_missing_value_tracks_true"),
    )
    ways = [said(f"nodes_{name}") or () for name in ("falsenodeids", "truenodeids")]
    call.require("C4", lambda: all(len(each) == n for each in (ids, modes, features, values, *ways))
                 and (tracks is None or len(tracks) == n))  # fmt: skip
    nodes = {key: k for k, key in enumerate(zip(trees, ids, strict=True))}
    call.require("C5", lambda: len(nodes) == n)
    of = [said(f"{stem}_{name}") or () for name in ("treeids", "nodeids", "ids")]
    weights, base = listed(f"{stem}_weights"), listed("base_values")
    targets = len(labels) if classify else said("n_targets") or 0
    if not classify:
        call.require("C10", lambda: targets > 0)
        call.require("C11", lambda: said("aggregate_function") in ("AVERAGE", "SUM", "MIN", "MAX"))
    branching = [k for k in range(n) if modes[k] != "LEAF"]
    call.require("C7", lambda: all(mode == "LEAF" or mode in BRANCHES for mode in modes))
    call.require(
        "C9", lambda: len({len(each) for each in (*of, weights)}) == 1 and all(0 <= t < targets for t in of[2])
    )
    call.require("C6", lambda: all((trees[k], w[k]) in nodes for k in branching for w in ways)
                 and all(key in nodes for key in zip(of[0], of[1], strict=True)))  # fmt: skip
    call.require("C8", lambda: all(0 <= features[k] < x.shape[1] for k in branching))
    lone = classify and targets == 2 and set(of[2]) <= {0}
    call.require("C12", lambda: len(base) in (0, targets) or (lone and len(base) == 1))
    leaves: dict[int, list[tuple[int, Any]]] = {k: [] for k in range(n)}
    for tree, node, target, weight in zip(*of, weights, strict=True):
        leaves[nodes[tree, node]].append((target, weight))
    roots = list({tree: k for k, tree in reversed(list(enumerate(trees)))}.values())

    def reached(row: list[Any], k: int) -> int:
        for _ in range(n + 1):
            if modes[k] == "LEAF":
                return k
            value = row[features[k]]
            if value != value:
                goes = bool(tracks is not None and tracks[k])
            else:
                goes = BRANCHES[modes[k]](value, values[k])
            k = nodes[trees[k], ways[goes][k]]
        raise LeftOut("tree: a tree that never ends")

    rows = [[leaves[reached(row, root)] for root in roots] for row in rows_of(x)]
    how = "SUM" if classify else said("aggregate_function")
    made = [gathered(each, targets, how, len(roots)) for each in rows]
    made = [[a.add(s, base[k]) if k < len(base) else s for k, s in enumerate(row)] for row in made]
    if not classify:
        flat = [s for row in made for s in transformed(row, said("post_transform"))]
        return [Tensor("float", (len(made), targets), flat)]
    if lone:  # one score covers both classes: probabilities that add up to one, or margins of opposite sign
        shares = all(weight >= 0 for weight in weights)
        border = Fraction(1, 2) if shares else 0
        chosen = [labels[int(row[0] > border)] for row in made]
        made = [[a.sub(1, row[0]) if shares else a.neg(row[0]), row[0]] for row in made]
    else:
        chosen = [labels[best(row)] for row in made]
    flat = [s for row in made for s in transformed(row, said("post_transform"))]
    return [Tensor(type_, (len(made),), chosen), Tensor("float", (len(made), targets), flat)]


WRITTEN = {"linear_classifier": linear, "tree_ensemble": ensemble, "tree_votes": votes}
