"""Support vector machines: one linear model per class, or one machine per pair of classes with voting."""

from __future__ import annotations

import itertools
from typing import Any

from tests.independent.arithmetic import add, div, exp, mul, neg, power, sub, tanh, total
from tests.independent.refusal import LeftOut
from tests.independent.structural.classifiers import TRANSFORMS, best, labels_of, rows_of, transformed
from tests.independent.tensors import Tensor


def dot(x: Any, y: Any) -> Any:
    return total(mul(u, v) for u, v in zip(x, y, strict=True))


def kernel(kind: str, params: Any, x: Any, y: Any) -> Any:
    gamma, offset, degree = params or (0, 0, 0)
    if kind == "LINEAR":
        return dot(x, y)
    if kind == "RBF":
        apart = [sub(u, v) for u, v in zip(x, y, strict=True)]
        return exp(neg(mul(gamma, dot(apart, apart))))
    inner = add(mul(gamma, dot(x, y)), offset)
    return power(inner, degree) if kind == "POLY" else tanh(inner)


def classifier(call: Any) -> list[Any]:
    x, said = call.inputs["X"], lambda name: call.attributes.get(name) or ()
    call.require("C1", lambda: len(x.shape) in (1, 2))
    type_, labels = labels_of(call, "classlabels_ints", "C2")
    call.require("C3", lambda: said("post_transform") in TRANSFORMS)
    call.require("C4", lambda: said("kernel_type") in ("LINEAR", "POLY", "RBF", "SIGMOID"))
    call.require("C5", lambda: len(said("kernel_params")) in (0, 3))
    classes, features, counts = len(labels), x.shape[-1], said("vectors_per_class")
    coefficients, rho, a, b = said("coefficients"), said("rho"), said("prob_a"), said("prob_b")
    call.require("C7", lambda: not counts or (len(counts) == classes > 1 and all(n >= 0 for n in counts)
                 and len(said("support_vectors")) == sum(counts) * features))  # fmt: skip
    wanted = (classes - 1) * sum(counts) if counts else classes * features
    call.require("C6", lambda: len(coefficients) == wanted)
    pairs = list(itertools.combinations(range(classes), 2))
    call.require("C8", lambda: len(rho) == (len(pairs) if counts else classes) or (not counts and len(rho) == 1))
    call.require("C9", lambda: len(a) == len(b) and (not a or (bool(counts) and len(a) == len(pairs))))
    chosen: list[Any] = []
    scores: list[Any] = []
    for row in rows_of(x):
        if not counts:
            own = [
                add(dot(row, coefficients[k * features : (k + 1) * features]), rho[k % len(rho)])
                for k in range(classes)
            ]
            place = best(own)
        else:
            own = machines(call, row, counts, coefficients, rho, pairs)
            votes = [0] * classes
            for (i, j), score in zip(pairs, own, strict=True):
                votes[i if score > 0 else j] += 1
            place = votes.index(max(votes))
            if a:
                if classes > 2:
                    raise LeftOut("svm: probabilities of three classes and more")
                share = div(1, add(1, exp(add(mul(a[0], own[0]), b[0]))))
                own = [share, sub(1, share)]
                place = best(own)
            elif classes == 2:
                own = [neg(own[0]), own[0]]
        chosen.append(labels[place])
        scores += transformed(own, said("post_transform"))
    width = classes if not counts or a or classes == 2 else len(pairs)
    return [Tensor(type_, (len(chosen),), chosen), Tensor("float", (len(chosen), width), scores)]


def machines(call: Any, row: Any, counts: Any, coefficients: Any, rho: Any, pairs: Any) -> list[Any]:
    """The score of each pair (i, j): vectors of class i use coefficient row j - 1, those of class j use row i."""
    n, flat = sum(counts), call.attributes["support_vectors"]
    width = len(row)
    near = [
        kernel(
            call.attributes["kernel_type"], call.attributes.get("kernel_params"), row, flat[k * width : (k + 1) * width]
        )
        for k in range(n)
    ]
    starts = [sum(counts[:c]) for c in range(len(counts))]
    made = []
    for (i, j), offset in zip(pairs, rho, strict=True):
        terms = [mul(coefficients[(j - 1) * n + k], near[k]) for k in range(starts[i], starts[i] + counts[i])]
        terms += [mul(coefficients[i * n + k], near[k]) for k in range(starts[j], starts[j] + counts[j])]
        made.append(total([*terms, offset]))
    return made


WRITTEN = {"svm_classifier": classifier}
