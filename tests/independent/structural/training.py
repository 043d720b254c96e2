"""One step of Adagrad, Adam or Momentum, from the pseudocode of the standard."""

from __future__ import annotations

from typing import Any

from tests.independent.arithmetic import add, div, mul, power, sqrt, sub
from tests.independent.tensors import Tensor


def adagrad(said: Any, rate: Any, count: int, x: Any, g: Any, h: Any) -> tuple[Any, ...]:
    r = div(rate, add(1, mul(count, said("decay_factor"))))
    regular = add(mul(said("norm_coefficient"), x), g)
    h_new = add(h, mul(regular, regular))
    return sub(x, div(mul(r, regular), add(sqrt(h_new), said("epsilon")))), h_new


def momentum(said: Any, rate: Any, count: int, x: Any, g: Any, v: Any) -> tuple[Any, ...]:
    regular = add(mul(said("norm_coefficient"), x), g)
    v_new = add(mul(said("alpha"), v), mul(said("beta") if count > 0 else 1, regular))
    step = v_new if said("mode") == "standard" else add(regular, mul(said("alpha"), v_new))
    return sub(x, mul(rate, step)), v_new


def adam(said: Any, rate: Any, count: int, x: Any, g: Any, v: Any, h: Any) -> tuple[Any, ...]:
    alpha, beta = said("alpha"), said("beta")
    regular = add(mul(said("norm_coefficient"), x), g)
    v_new = add(mul(alpha, v), mul(sub(1, alpha), regular))
    h_new = add(mul(beta, h), mul(mul(sub(1, beta), regular), regular))
    if count > 0:
        rate = div(mul(rate, sqrt(sub(1, power(beta, count)))), sub(1, power(alpha, count)))
    x_new = sub(x, div(mul(rate, v_new), add(sqrt(h_new), said("epsilon"))))
    return mul(sub(1, said("norm_coefficient_post")), x_new), v_new, h_new


STEPS = {"Adagrad": (adagrad, 3), "Momentum": (momentum, 3), "Adam": (adam, 4)}


def training_step(call: Any) -> list[Any]:
    rate, count, given = (call.inputs[name] for name in ("R", "T", "inputs"))
    step, each = STEPS[call.version.op]
    call.require("C1", lambda: len(given) > 0 and len(given) % each == 0)
    n = len(given) // each
    call.require(
        "C2", lambda: all(t.shape == given[k % n].shape and t.type == given[k % n].type for k, t in enumerate(given))
    )
    call.require("C3", lambda: len(rate.flat()) == 1 == len(count.flat()))
    if call.version.op == "Momentum":
        call.require("C4", lambda: call.attributes["mode"] in ("standard", "nesterov"))
    made: list[list[Tensor]] = []
    for k in range(n):
        own = [given[k + n * part] for part in range(each)]
        rows = [
            step(call.attributes.get, rate.only, count.only, *values)
            for values in zip(*(t.flat() for t in own), strict=True)
        ]
        parts = list(zip(*rows, strict=True)) or [()] * (each - 1)
        made.append([Tensor(own[0].type, own[0].shape, list(values)) for values in parts])
    return [[tensors[part] for part in range(each - 1) for tensors in made]]


WRITTEN = {"training_step": training_step}
