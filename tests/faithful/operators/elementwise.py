"""Elementwise operators, in the formulas that runtimes use."""

from __future__ import annotations

import math

import numpy as np

from tests.faithful.arithmetic import Arithmetic
from tests.faithful.registry import Node, Outputs, computes, form_of

FUNCTIONS = {name.capitalize(): name for name in ("exp log sin cos tan asin acos atan sinh cosh erf").split()}
FUNCTIONS |= {name.capitalize(): name for name in ("asinh", "acosh", "atanh")}


@computes(*FUNCTIONS, functions=True)
def function(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    return a.stored(getattr(a, FUNCTIONS[node.op])(a.read(x)))


PLAIN = {
    "Abs": np.abs,
    "Neg": np.negative,
    "Ceil": np.ceil,
    "Floor": np.floor,
    "Round": np.rint,
    "Sign": np.sign,
    "Sqrt": np.sqrt,
}


@computes(*PLAIN)
def plain(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    return a.stored(PLAIN[node.op](a.read(x)))


@computes("Reciprocal")
def reciprocal(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    return a.stored(1 / a.read(x))


@computes("Tanh", forms="called of_exp", functions=True)
def tanh(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    x = a.read(x)
    if form_of(a, node) == "of_exp":
        t = a.exp(-2 * np.abs(x))
        return a.stored(np.copysign((1 - t) / (1 + t), x))
    return a.stored(a.tanh(x))


@computes("Sigmoid", forms="of_exp one_branch of_tanh", functions=True)
def sigmoid(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    x, form = a.read(x), form_of(a, node)
    if form == "one_branch":
        return a.stored(1 / (1 + a.exp(-x)))
    if form == "of_tanh":
        return a.stored(0.5 * a.tanh(0.5 * x) + 0.5)
    return a.stored(a.sigmoid(x))


def softplus_of(a: Arithmetic, x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0) + a.log1p(a.exp(-np.abs(x)))


@computes("Softplus", forms="of_log1p of_log", functions=True)
def softplus(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    x = a.read(x)
    if form_of(a, node) == "of_log":
        return a.stored(np.maximum(x, 0) + a.log(1 + a.exp(-np.abs(x))))
    return a.stored(softplus_of(a, x))


@computes("Mish", forms="written of_powers", functions=True)
def mish(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    x = a.read(x)
    if form_of(a, node) == "of_powers":  # tanh(log(1 + e)) = (e e + 2 e) / (e e + 2 e + 2)
        e = a.exp(np.minimum(x, 20))
        n = e * (e + 2)
        return a.stored(np.where(x > 20, x, x * (n / (n + 2))))
    return a.stored(x * a.tanh(softplus_of(a, x)))


@computes("Softsign")
def softsign(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    x = a.read(x)
    return a.stored(x / (1 + np.abs(x)))


@computes("Relu", "LeakyRelu", "ThresholdedRelu", "PRelu")
def relu(a: Arithmetic, node: Node, x: np.ndarray, slope: np.ndarray | None = None) -> Outputs:
    x = a.read(x)
    if node.op == "ThresholdedRelu":
        return a.stored(np.where(x > a.of(node.alpha), x, 0))
    factor = a.read(slope) if slope is not None else a.of(node.alpha or 0)
    return a.stored(np.where(x < 0, x * factor, x) if node.op != "Relu" else np.maximum(x, 0))


@computes("Elu", "Selu", "Celu", forms="exp_less_one expm1", functions=True)
def elu(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    x, alpha = a.read(x), a.of(node.alpha)
    inner = np.minimum(x, 0)  # the positive branch is unused, but could overflow
    inner = inner / alpha if node.op == "Celu" else inner
    rest = a.expm1(inner) if form_of(a, node) == "expm1" else a.exp(inner) - 1
    if node.op == "Celu":
        return a.stored(np.maximum(x, 0) + np.minimum(alpha * rest, 0))
    out = np.where(x > 0, x, alpha * rest)
    return a.stored(a.of(node.gamma) * out if node.op == "Selu" else out)


@computes("HardSigmoid", forms="written fused")
def hard_sigmoid(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    a.fused = form_of(a, node) == "fused"
    x = a.read(x)
    return a.stored(np.clip(a.add_product(x, a.of(node.alpha), a.of(node.beta)), 0, 1))


def not_double(x: np.ndarray, *_: np.ndarray) -> bool:
    return x.dtype != np.float64


@computes("HardSwish", forms="of_sixths relu6", domain={"relu6": not_double})
def hard_swish(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    """The standard's function body stores 1/6 as a float attribute, which a double result reveals."""
    x = a.read(x)
    if form_of(a, node) == "relu6":
        return a.stored(x * np.clip(x + 3, 0, 6) / 6)
    return a.stored(x * np.clip(x * a.of(np.float32(1 / 6)) + a.of(0.5), 0, 1))


@computes("Shrink")
def shrink(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    x = a.read(x)
    low, high = x + a.of(node.bias), x - a.of(node.bias)
    return a.stored(np.where(x < -a.of(node.lambd), low, np.where(x > a.of(node.lambd), high, np.zeros_like(x))))


@computes("Gelu", forms="written complement factored halved", functions=True)
def gelu(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    x, form = a.read(x), form_of(a, node)
    if node.approximate == "tanh":
        c = a.of(math.sqrt(2 / math.pi))
        if form in ("complement", "factored"):
            inner = x * (c + a.of(0.044715 * math.sqrt(2 / math.pi)) * (x * x))
        else:
            inner = c * (x + a.of(0.044715) * (x * x * x))
        if form == "halved":  # (1 + tanh z) / 2 = sigmoid(2 z)
            return a.stored(x * a.sigmoid(2 * inner))
        return a.stored(0.5 * x * (1 + a.tanh(inner)))
    if form == "complement":
        return a.stored(0.5 * x * a.erfc(-x * a.of(math.sqrt(0.5))))
    if form == "factored":
        return a.stored(x * (0.5 + 0.5 * a.erf(x * a.of(math.sqrt(0.5)))))
    if form == "halved":
        return a.stored((x * (1 + a.erf(x / a.of(math.sqrt(2))))) / 2)
    return a.stored(0.5 * x * (1 + a.erf(x / a.of(math.sqrt(2)))))


@computes("Swish", "SwiGLU", forms="product quotient", functions=True)
def swish(a: Arithmetic, node: Node, x: np.ndarray, gate: np.ndarray | None = None) -> Outputs:
    x = a.read(x)
    z = a.of(node.alpha) * x
    out = x / (1 + a.exp(-z)) if form_of(a, node) == "quotient" else x * a.sigmoid(z)
    return a.stored(out * a.read(gate) if gate is not None else out)


BINARY = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}


@computes(*BINARY)
def binary(a: Arithmetic, node: Node, x: np.ndarray, y: np.ndarray) -> Outputs:
    return a.stored(BINARY[node.op](a.read(x), a.read(y)))


@computes("Div", forms="divided by_reciprocal")
def divide(a: Arithmetic, node: Node, x: np.ndarray, y: np.ndarray) -> Outputs:
    x, y = a.read(x), a.read(y)
    return a.stored(x * (1 / y) if form_of(a, node) == "by_reciprocal" else x / y)


@computes("Pow", forms="called repeated", functions=True)
def power(a: Arithmetic, node: Node, x: np.ndarray, y: np.ndarray) -> Outputs:
    x, form = a.read(x), form_of(a, node)
    if form == "repeated":  # as most runtimes do for 2 and 3
        return a.stored(np.where(y == 2, x * x, np.where(y == 3, x * x * x, a.pow(x, y.astype(a.number)))))
    return a.stored(a.pow(x, y.astype(a.number)))


@computes("Mod")
def remainder(a: Arithmetic, node: Node, x: np.ndarray, y: np.ndarray) -> Outputs:
    x, y = a.read(x), a.read(y)
    rest = np.fmod(x, y)
    if node.fmod:
        return a.stored(rest)
    return a.stored(
        np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, np.where(rest == 0, np.copysign(rest, y), rest))
    )


@computes("Sum", "Mean", forms="divided by_reciprocal", sums=True)
def variadic(a: Arithmetic, node: Node, *inputs: np.ndarray) -> Outputs:
    total = a.sum(np.stack(np.broadcast_arrays(*map(a.read, inputs)), axis=-1))
    if node.op == "Sum":
        return a.stored(total)
    n = len(inputs)
    return a.stored(total * a.of(1 / n) if form_of(a, node) == "by_reciprocal" else total / n)


@computes("Max", "Min")
def extreme(a: Arithmetic, node: Node, *inputs: np.ndarray) -> Outputs:
    take = np.maximum if node.op == "Max" else np.minimum
    out = inputs[0]
    for each in inputs[1:]:
        out = take(out, each)
    return out


@computes("Clip")
def clip(a: Arithmetic, node: Node, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> Outputs:
    return np.minimum(np.maximum(x, low), high)


COMPARED = {
    "Less": np.less,
    "Greater": np.greater,
    "Equal": np.equal,
    "LessOrEqual": np.less_equal,
    "GreaterOrEqual": np.greater_equal,
}


@computes(*COMPARED)
def compare(a: Arithmetic, node: Node, x: np.ndarray, y: np.ndarray) -> Outputs:
    return COMPARED[node.op](a.read(x), a.read(y))


@computes("Where")
def where(a: Arithmetic, node: Node, condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> Outputs:
    return np.where(condition, x, y)


@computes("IsNaN", "IsInf")
def classify(a: Arithmetic, node: Node, x: np.ndarray) -> Outputs:
    return np.isnan(a.read(x)) if node.op == "IsNaN" else np.isinf(a.read(x))


@computes("RotaryEmbedding", forms="written fused")
def rotary(a: Arithmetic, node: Node, x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> Outputs:
    """Four dimensions, split halves (not interleaved), no position ids."""
    a.fused = form_of(a, node) == "fused"
    first, second = np.split(a.read(x), 2, axis=-1)
    c, s = a.read(cos)[:, None], a.read(sin)[:, None]
    left = a.add_product(c, first, -(s * second))
    return a.stored(np.concatenate([left, a.add_product(s, first, c * second)], axis=-1))
