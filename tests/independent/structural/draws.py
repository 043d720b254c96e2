"""Random operators. Any element that the distribution can give is right; shapes, types and refusals are comparable."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from tests.independent import elements
from tests.independent.formats import whole
from tests.independent.indices import count
from tests.independent.refusal import LeftOut
from tests.independent.runtime import type_of
from tests.independent.tensors import Tensor


def generator(call: Any) -> random.Random:
    return random.Random(str(call.attributes.get("seed")))


def exact(x: float) -> Any:
    return whole(Fraction(x))


def made(call: Any, values: Any) -> list[Any]:
    """A random tensor with the shape and type of the attributes, else of the input."""
    like, code = call.inputs.get("input"), call.attributes.get("dtype")
    shape = like.shape if like is not None else call.attributes["shape"]
    type_ = type_of(code) if code is not None else like.type
    call.bind(call.version.outputs[0].type, type_)
    return [Tensor(type_, shape, [values() for _ in range(count(Tensor(type_, shape).shape))])]


def normal(call: Any) -> list[Any]:
    draw = generator(call)
    return made(call, lambda: exact(draw.gauss(float(call.attributes["mean"]), float(call.attributes["scale"]))))


def uniform(call: Any) -> list[Any]:
    draw, low, high = generator(call), call.attributes["low"], call.attributes["high"]
    return made(call, lambda: whole(low + (high - low) * Fraction(draw.random()) / 2))


def bernoulli(call: Any) -> list[Any]:
    x, draw = call.inputs["input"], generator(call)
    call.require("C1", lambda: all(0 <= p <= 1 for p in x.flat()))
    chances = iter(x.flat())
    return made(call, lambda: int(draw.random() < next(chances)))


def multinomial(call: Any) -> list[Any]:
    x, size, draw = call.inputs["input"], call.attributes["sample_size"], generator(call)
    call.require("C1", lambda: len(x.shape) == 2 and x.shape[1] > 0)
    call.require("C2", lambda: size >= 0)
    rows = [[x.at[r, k] for k in range(x.shape[1])] for r in range(x.shape[0])]
    likely = [
        [k for k, v in enumerate(row) if v == v and v == max(u for u in row if u == u)] for row in map(clean, rows)
    ]
    call.require("C3", lambda: all(likely))
    type_ = type_of(call.attributes["dtype"])
    call.bind("T2", type_)
    return [Tensor(type_, (len(rows), size), [draw.choice(own) for own in likely for _ in range(size)])]


def clean(row: list[Any]) -> list[Any]:
    """Log-probabilities; those of -inf become NaN."""
    return [v if v == v and v != float("-inf") else float("nan") for v in row]


def dropout(call: Any) -> list[Any]:
    """Dropout whose training draw keeps every element that it may: elements are zero only if the ratio is 1."""
    x, said = call.inputs["data"], call.attributes.get
    if call.version.since < 7:
        trains, ratio = not said("is_test"), said("ratio")
    else:
        share, mode = call.inputs["ratio"], call.inputs["training_mode"]
        call.require("C1", lambda: share is None or count(share.shape) == 1)
        call.require("C2", lambda: mode is None or count(mode.shape) == 1)
        trains, ratio = mode is not None and mode.only, Fraction(1, 2) if share is None else share.only
    mask_type = call.version.outputs[1].type
    mask_type = call.types.get(mask_type, mask_type)
    one = elements.of_type(mask_type).of(1)
    if not trains or ratio == 0:
        return [x, Tensor(mask_type, x.shape, [one] * len(x.flat()))]
    raise LeftOut("draw: Dropout in training")


WRITTEN = {
    "draw.normal": normal, "draw.uniform": uniform, "draw.bernoulli": bernoulli, "draw.multinomial": multinomial,
    "dropout": dropout,
}  # fmt: skip
