"""TopK, Unique and NonMaxSuppression."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tests.independent import arithmetic as a
from tests.independent.indices import box, count
from tests.independent.tensors import Tensor


def ordering(x: Any, y: Any) -> int:
    """Compares two elements (-1, 0 or 1); NaN is above every number, and complex numbers compare by their parts in
    order.
    """
    if isinstance(x, tuple):
        return ordering(x[0], y[0]) or ordering(x[1], y[1])
    if isinstance(x, str):
        x, y = x.encode("utf-8", "surrogateescape"), y.encode("utf-8", "surrogateescape")
    if x != x or y != y:
        return (x != x) - (y != y)
    return (x > y) - (x < y)


def lines(shape: tuple[int, ...], axis: int) -> Any:
    """For each line along the axis, a function from a position on it to a point."""
    for p in box((*shape[:axis], *shape[axis + 1 :])):
        yield lambda k, p=p: (*p[:axis], k, *p[axis:])


def topk(call: Any) -> list[Any]:
    x, axis = call.inputs["X"], call.attributes["axis"]
    rank, named = len(x.shape), call.inputs.get("K")
    call.require("C1", lambda: rank > 0 and -rank <= axis < rank)
    axis %= rank
    if named is None:
        k = call.attributes["k"]
        call.require("C4", lambda: 0 < k <= x.shape[axis])
    else:
        call.require("C2", lambda: named.shape == (1,))
        k = named.only
        call.require("C3", lambda: 0 <= k <= x.shape[axis])
    sign = -1 if call.attributes.get("largest", 1) else 1
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    values, places = Tensor(x.type, shape), Tensor("int64", shape)
    for point in lines(x.shape, axis):
        own = [x.at[point(n)] for n in range(x.shape[axis])]
        key = functools.cmp_to_key(lambda m, n, own=own: sign * ordering(own[m], own[n]) or (m > n) - (m < n))
        for n, place in enumerate(sorted(range(len(own)), key=key)[:k]):
            values.at[point(n)], places.at[point(n)] = own[place], place
    return [values, places]


def unique(call: Any) -> list[Any]:
    x, axis = call.inputs["X"], call.said.get("axis")
    rank = len(x.shape)
    if axis is not None:
        call.require("C1", lambda: -rank <= axis < rank)
    ascending = call.attributes["sorted"]
    call.require("C2", lambda: ascending in (0, 1))
    if axis is None:
        slices = [(v,) for v in x.flat()]
        rest: tuple[int, ...] = ()
    else:
        axis %= rank
        rest = (*x.shape[:axis], *x.shape[axis + 1 :])
        slices = [tuple(x.at[(*p[:axis], k, *p[axis:])] for p in box(rest)) for k in range(x.shape[axis])]

    def compare(s: Any, t: Any) -> int:
        return next((order for u, v in zip(s, t, strict=True) if (order := ordering(u, v))), 0)

    found: list[int] = []  # the first position of each distinct slice
    for k, one in enumerate(slices):
        if not any(compare(slices[f], one) == 0 for f in found):
            found.append(k)
    if ascending:
        found.sort(key=functools.cmp_to_key(lambda m, n: compare(slices[m], slices[n])))
    inverse = [next(n for n, f in enumerate(found) if compare(slices[f], one) == 0) for one in slices]
    counts = [inverse.count(n) for n in range(len(found))]
    if axis is None:
        y = Tensor(x.type, (len(found),), [slices[f][0] for f in found])
    else:
        y = Tensor(x.type, (*x.shape[:axis], len(found), *x.shape[axis + 1 :]))
        for n, f in enumerate(found):
            for p, value in zip(box(rest), slices[f], strict=True):
                y.at[(*p[:axis], n, *p[axis:])] = value
    return [y, *(Tensor("int64", (len(each),), each) for each in (found, inverse, counts))]


# -- boxes -------------------------------------------------------------------------------------------------------
def corners(box_: list[Any], centred: bool) -> tuple[Any, ...]:
    """Low and high ends of both sides; a box may be given by any two opposite corners."""
    if centred:
        x, y, w, h = box_
        half_w, half_h = a.div(w, 2), a.div(h, 2)
        ends = ((a.sub(y, half_h), a.add(y, half_h)), (a.sub(x, half_w), a.add(x, half_w)))
    else:
        ends = ((box_[0], box_[2]), (box_[1], box_[3]))
    return tuple((a.minimum(*side), a.maximum(*side)) for side in ends)


def overlap(first: Any, second: Any) -> Any:
    """Intersection over union, 0 for an empty intersection or union."""
    sides = [a.sub(a.minimum(s[1], t[1]), a.maximum(s[0], t[0])) for s, t in zip(first, second, strict=True)]
    if any(not side > 0 for side in sides):
        return 0
    common = a.mul(*sides)
    areas = [a.mul(*(a.sub(high, low) for low, high in each)) for each in (first, second)]
    union = a.sub(a.add(*areas), common)
    return a.div(common, union) if union > 0 else 0


def non_max_suppression(call: Any) -> list[Any]:
    boxes, scores = call.inputs["boxes"], call.inputs["scores"]
    centred = call.attributes["center_point_box"]
    call.require("C1", lambda: len(boxes.shape) == 3 == len(scores.shape) and boxes.shape[2] == 4
                 and boxes.shape[0] == scores.shape[0] and boxes.shape[1] == scores.shape[2])  # fmt: skip
    call.require("C2", lambda: centred in (0, 1))
    limits = [call.inputs.get(n) for n in ("max_output_boxes_per_class", "iou_threshold", "score_threshold")]
    call.require("C3", lambda: all(t is None or count(t.shape) == 1 for t in limits))
    most, iou, least = (None if t is None else t.only for t in limits)
    call.require("C4", lambda: iou is None or 0 <= iou <= 1)
    chosen: list[int] = []
    for batch in range(scores.shape[0]):
        spots = [corners([boxes.at[batch, n, k] for k in range(4)], bool(centred)) for n in range(boxes.shape[1])]
        for class_ in range(scores.shape[1]):
            own = [scores.at[batch, class_, n] for n in range(scores.shape[2])]
            for n in selected(spots, own, most or 0, iou or 0, least):
                chosen += [batch, class_, n]
    return [Tensor("int64", (len(chosen) // 3, 3), chosen)]


def selected(spots: list[Any], scores: list[Any], most: int, iou: Any, least: Any) -> list[int]:
    order: Callable[[int], Any] = functools.cmp_to_key(
        lambda m, n: -ordering(scores[m], scores[n]) or (m > n) - (m < n)
    )
    left = [n for n in sorted(range(len(scores)), key=order) if least is None or scores[n] > least]
    found: list[int] = []
    for n in left:
        if len(found) >= most:
            break
        if all(not overlap(spots[n], spots[f]) > iou for f in found):
            found.append(n)
    return found


WRITTEN = {"topk": topk, "unique": unique, "non_max_suppression": non_max_suppression}
