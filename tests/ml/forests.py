"""Trees that scikit-learn trained, as records of nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import ensemble

from tests.ml.data import BINARY, CLASS, TARGET, TEST, Record, X, floats, record, single, value


def below(thresholds: Any) -> Any:
    """The largest floats not above the thresholds: x <= t has the same answer for every float x."""
    near = np.asarray(thresholds, dtype=np.float32)
    return np.where(near > thresholds, np.nextafter(near, np.float32(-np.inf)), near)


def nodes_of(trees: list[Any], double: bool = False) -> Record:
    """The nodes of scikit-learn's trees, as attributes of the older operators."""
    out: Record = {
        key: [] for key in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")
    }
    for k, each in enumerate(trees):
        leaf = each.children_left < 0
        out["treeids"] += [k] * each.node_count
        out["nodeids"] += list(range(each.node_count))
        out["featureids"] += [int(f) for f in np.where(leaf, 0, each.feature)]
        out["modes"] += ["LEAF" if each else "BRANCH_LEQ" for each in leaf]
        out["values"] += [float(v) for v in np.where(leaf, 0, each.threshold if double else below(each.threshold))]
        out["truenodeids"] += [int(c) for c in np.where(leaf, 0, each.children_left)]
        out["falsenodeids"] += [int(c) for c in np.where(leaf, 0, each.children_right)]
    return {f"nodes_{key}": values for key, values in out.items()}


def votes_of(trees: list[Any], side: str, weigh: Callable[[int, Any], Any]) -> Record:
    """Leaf weights as attributes. weigh(tree, value of a node) returns (class or target, weight) pairs."""
    out: Record = {f"{side}_{key}": [] for key in ("treeids", "nodeids", "ids", "weights")}
    for k, each in enumerate(trees):
        for node in np.flatnonzero(each.children_left < 0):
            for of, weight in weigh(k, each.value[node]):
                for key, said in (
                    ("treeids", k),
                    ("nodeids", int(node)),
                    ("ids", of),
                    ("weights", float(np.float32(weight))),
                ):
                    out[f"{side}_{key}"].append(said)
    return out


def trees() -> list[Record]:
    x, grown = single(TEST), {"max_depth": 3, "random_state": 1}
    many = ensemble.RandomForestRegressor(5, **grown).fit(X, np.stack([TARGET, -TARGET], axis=1))
    parts = [each.tree_ for each in many.estimators_]
    plain = lambda k, held: enumerate(held[:, 0])  # noqa: E731
    made = [
        record(
            "forest_regressor",
            "TreeEnsembleRegressor",
            1,
            {**nodes_of(parts), **votes_of(parts, "target", plain), "n_targets": 2, "aggregate_function": "AVERAGE"},
            [x],
            [single(many.predict(TEST))],
        )
    ]
    wide = {
        **nodes_of(parts, True),
        **votes_of(parts, "target", plain),
        "n_targets": 2,
        "aggregate_function": "AVERAGE",
    }
    wide["nodes_values_as_tensor"] = value(wide.pop("nodes_values"), "double")
    wide["target_weights_as_tensor"] = value([np.float64(w) for w in wide.pop("target_weights")], "double")
    made.append(
        record(
            "forest_regressor_of_doubles",
            "TreeEnsembleRegressor",
            3,
            wide,
            [value(TEST.astype(float), "double")],
            [single(many.predict(TEST))],
        )
    )
    boosted = ensemble.GradientBoostingRegressor(n_estimators=6, learning_rate=0.5, **grown).fit(X, TARGET)
    parts = [each[0].tree_ for each in boosted.estimators_]
    made.append(
        record(
            "boosted_regressor",
            "TreeEnsembleRegressor",
            1,
            {
                **nodes_of(parts),
                **votes_of(parts, "target", lambda k, held: [(0, held[0, 0] * 0.5)]),
                "n_targets": 1,
                "base_values": floats(boosted.init_.constant_),
            },
            [x],
            [single(boosted.predict(TEST).reshape(-1, 1))],
        )
    )
    for name, target in (("three", CLASS), ("two", BINARY)):
        forest = ensemble.RandomForestClassifier(5, **grown).fit(X, target)
        parts = [each.tree_ for each in forest.estimators_]
        attributes = {
            **nodes_of(parts),
            **votes_of(parts, "class", lambda k, held: enumerate(held[0] / held[0].sum() / 5)),
            "classlabels_int64s": [int(c) for c in forest.classes_],
        }
        made.append(
            record(
                f"forest_classifier_{name}",
                "TreeEnsembleClassifier",
                1,
                attributes,
                [x],
                [value(forest.predict(TEST), "int64"), single(forest.predict_proba(TEST))],
                **({"departs": "Q061"} if name == "two" else {}),
            )
        )
    boosted = ensemble.GradientBoostingClassifier(n_estimators=6, learning_rate=0.5, **grown).fit(X, BINARY)
    parts = [each[0].tree_ for each in boosted.estimators_]
    start = float(np.log(BINARY.mean() / (1 - BINARY.mean())))
    attributes = {
        **nodes_of(parts),
        **votes_of(parts, "class", lambda k, held: [(0, held[0, 0] * 0.5)]),
        "classlabels_strings": ["no", "yes"],
        "base_values": floats([start]),
        "post_transform": "LOGISTIC",
    }
    made.append(
        record(
            "boosted_classifier",
            "TreeEnsembleClassifier",
            1,
            attributes,
            [x],
            [value([["no", "yes"][c] for c in boosted.predict(TEST)], "string"), single(boosted.predict_proba(TEST))],
        )
    )
    return [*made, new_trees(many)]


def new_trees(forest: Any) -> Record:
    """The same forest for the newest operator, which has separate lists of nodes and leaves."""
    nodes: Record = {key: [] for key in ("featureids", "truenodeids", "falsenodeids", "trueleafs", "falseleafs")}
    splits, weights, targets, roots = [], [], [], []
    for target in (0, 1):
        for each in (part.tree_ for part in forest.estimators_):
            inner, place = np.flatnonzero(each.children_left >= 0), {}
            roots.append(len(splits))
            for node in range(each.node_count):
                place[node] = len(splits) + list(inner).index(node) if node in inner else len(weights)
                if node not in inner:
                    weights.append(np.float32(each.value[node][target, 0]))
                    targets.append(target)
            for node in inner:
                for key, child in (("true", each.children_left[node]), ("false", each.children_right[node])):
                    nodes[f"{key}nodeids"].append(place[child])
                    nodes[f"{key}leafs"].append(int(child not in inner))
                nodes["featureids"].append(int(each.feature[node]))
            splits += [float(t) for t in below(each.threshold[inner])]
    attributes = {
        **{f"nodes_{key}": values for key, values in nodes.items()},
        "nodes_splits": single(splits),
        "leaf_weights": single(np.array(weights) / np.float32(5)),
        "nodes_modes": value([0] * len(splits), "uint8"),
        "leaf_targetids": targets,
        "n_targets": 2,
        "tree_roots": roots,
    }
    return record("forest_of_5", "TreeEnsemble", 5, attributes, [single(TEST)], [single(forest.predict(TEST))])
