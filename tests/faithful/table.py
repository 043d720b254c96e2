"""The cases, by operator family: an operator version, its inputs and attributes. Types and regimes multiply them.

An input is `role shape`, as in `x 4 33`, or an array, which is used as given. Rows with a large output also exercise
the judge's aggregate bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Input = str | np.ndarray | None


@dataclass(frozen=True)
class Row:
    op: str
    opset: int
    inputs: tuple[Input, ...]
    attributes: dict[str, Any]
    name: str = ""
    outputs: int = 1
    regimes: tuple[str, ...] = ()  # empty: all
    without: tuple[str, ...] = ()  # formulas that are left out


def row(
    op: str,
    opset: int,
    *inputs: Input,
    name: str = "",
    outputs: int = 1,
    regimes: str = "",
    without: str = "",
    **said: Any,
) -> Row:
    return Row(op, opset, inputs, said, name, outputs, tuple(regimes.split()), tuple(without.split()))


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def elementwise() -> Iterator[Row]:
    for op in ("Exp", "Log", "Sin", "Cos", "Tan", "Atan", "Sinh", "Cosh", "Asinh", "Erf", "Tanh"):
        yield row(op, 13 if op in ("Exp", "Log", "Erf", "Tanh") else 22, "size 131" if op == "Log" else "x 131")
    for op in ("Asin", "Acos", "Atanh"):
        yield row(op, 22, "unit 131")
    yield row("Acosh", 22, "above_one 131")
    for op in ("Abs", "Neg", "Ceil", "Floor", "Sign", "Sqrt", "Reciprocal", "Sigmoid", "Relu"):
        yield row(op, 14 if op == "Relu" else 13, "size 131" if op == "Sqrt" else "x 131")
    for op in ("Round", "Softplus", "Softsign", "Mish", "Elu", "HardSigmoid", "HardSwish", "ThresholdedRelu"):
        yield row(op, 22, "x 131")
    yield row("Selu", 22, "x 131")
    yield row("Celu", 12, "x 131", alpha=1.5)
    yield row("LeakyRelu", 16, "x 131", alpha=0.1)
    yield row("PRelu", 16, "x 3 41", "weight 41")
    yield row("Shrink", 9, "x 131", lambd=0.4, bias=0.3)
    yield row("Gelu", 20, "x 131")
    yield row("Gelu", 20, "x 131", name="tanh", approximate="tanh")
    yield row("Gelu", 20, "x 1501", name="large", regimes="real logs two")
    yield row("Swish", 24, "x 131", alpha=1.7)
    yield row("SwiGLU", 28, "x 131", "weight 131")
    for op in ("Add", "Sub", "Mul", "Div"):
        yield row(op, 14, "x 3 41", "x 41")
    yield row("Pow", 15, "size 131", "weight 131")
    yield row("Pow", 15, "x 131", np.tile(floats(2, 3), 66)[:131], name="small")
    yield row("Mod", 28, "x 131", "positive 131")
    yield row("Mod", 28, "x 131", "positive 131", name="fmod", fmod=1)
    yield row("Sum", 13, *["x 41"] * 7)
    yield row("Mean", 13, *["x 41"] * 7)
    for op in ("Max", "Min"):
        yield row(op, 13, "x 41", "x 41")
    yield row("Clip", 13, "x 41", "weight", "positive")
    for op in ("Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual"):
        yield row(op, 16 if op.endswith("OrEqual") else 13, "x 41", "x 41")
    yield row("IsNaN", 20, "x 41")
    yield row("IsInf", 20, "x 41")
    yield row("Where", 16, np.arange(41) % 3 == 0, "x 41", "x 41")
    yield row("RotaryEmbedding", 23, "x 2 3 4 8", "weight 2 4 4", "weight 2 4 4")


def reduce() -> Iterator[Row]:
    summed = ("ReduceSum", "ReduceMean", "ReduceSumSquare", "ReduceL1", "ReduceL2")
    for op in (*summed, "ReduceLogSum", "ReduceLogSumExp"):
        data = "size" if op == "ReduceLogSum" else "x"
        yield row(op, 13 if op == "ReduceSum" else 18, f"{data} 5 3 67", ints(2))
    for op in summed[:3]:
        yield row(op, 13 if op == "ReduceSum" else 18, "x 4 9 11", ints(0, 2), name="two_axes", keepdims=0)
    for op in (*summed, "ReduceLogSumExp"):
        width = 24 if op == "ReduceLogSumExp" else 200
        yield row(op, 13 if op == "ReduceSum" else 18, f"x 1100 {width}", ints(1), name="large",
                  regimes="real constant two logs whole far")  # fmt: skip
    yield row("ReduceProd", 18, "unit 7 13", ints(1), regimes="whole cancel special constant two real")
    yield row("ReduceMax", 20, "x 5 67", ints(1))
    yield row("ReduceMin", 20, "x 5 67", ints(1))
    for op in ("ArgMax", "ArgMin"):
        yield row(op, 13, "x 5 67", axis=1, regimes="whole logs cancel giant constant two real far")
    yield row("CumSum", 14, "x 3 67", ints(1).reshape(()))
    yield row("CumSum", 14, "x 3 67", ints(1).reshape(()), name="backward", reverse=1, exclusive=1)
    classes = np.arange(24).reshape(4, 6) * 7 % 5
    for op in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
        yield row(op, 22 if op.startswith("N") else 13, "x 4 5 6", classes.astype(np.int64))
        yield row(
            op, 22 if op.startswith("N") else 13, "x 4 5 6", classes.astype(np.int64), "positive 5", name="weighted"
        )


def normalise() -> Iterator[Row]:
    for op in ("Softmax", "LogSoftmax"):
        yield row(op, 13, "x 4 37")
        yield row(op, 13, "x 3 7 4", name="middle", axis=1)
        yield row(op, 1, "x 3 7 4", name="flat", axis=1)
        yield row(op, 13, "x 12 128", name="large", regimes="real two constant logs")
    yield row("Hardmax", 13, "x 4 37", regimes="whole logs cancel real")
    yield row("LayerNormalization", 17, "x 4 48", "weight 48", "weight 48")
    # Welford's running mean is rounded for each element, so a bound from an exact sum is too tight: mean and inverse
    # are not judged.
    yield row(
        "LayerNormalization", 17, "x 2 3 4 5", "weight 4 5", name="statistics", axis=2, outputs=3, without="welford"
    )
    yield row("LayerNormalization", 17, "x 16 128", "weight 128", "weight 128", name="large",
              regimes="real far constant two logs")  # fmt: skip
    yield row("RMSNormalization", 23, "x 4 48", "weight 48")
    yield row("InstanceNormalization", 22, "x 2 3 6 7", "weight 3", "weight 3")
    yield row("GroupNormalization", 21, "x 2 6 5 3", "weight 6", "weight 6", num_groups=3)
    yield row("MeanVarianceNormalization", 13, "x 2 3 6 7")
    for p in (1, 2):
        yield row("LpNormalization", 22, "x 4 37", name=f"p{p}", p=p)
    yield row("LRN", 13, "x 2 9 3 2", size=5, alpha=0.2, beta=0.75, bias=1.0)
    yield row("BatchNormalization", 15, "x 3 4 7", "weight 4", "weight 4", "weight 4", "positive 4")
    yield row("BatchNormalization", 15, "x 3 4 7", "weight 4", "weight 4", "weight 4", "positive 4", name="training",
              outputs=3, training_mode=1)  # fmt: skip
    heads = ("x 2 4 5 8", "x 2 2 11 8", "weight 2 2 11 8")
    yield row("Attention", 23, *heads)
    yield row("Attention", 23, *heads, "weight 5 11", name="masked")
    yield row("Attention", 23, *heads, name="causal", is_causal=1)
    yield row("Attention", 23, *heads, name="capped", softcap=5.0)


def contract() -> Iterator[Row]:
    yield row("MatMul", 13, "x 5 67", "weight 67 3")
    yield row("MatMul", 13, "x 2 3 17", "x 17 4", name="both")
    yield row("MatMul", 13, "x 33 130", "weight 130 33", name="large", regimes="real constant two logs far")
    yield row("Gemm", 13, "x 5 67", "weight 67 3", "x 3", alpha=0.7, beta=1.3)
    yield row("Gemm", 13, "x 67 5", "weight 3 67", name="turned", transA=1, transB=1)
    yield row("Einsum", 12, "x 5 19", "weight 19 3", equation="ij,jk->ik")
    yield row("Einsum", 12, "x 3 7", "weight 7 5", "weight 5 4", name="chain", equation="ij,jk,kl->il")
    yield row("Einsum", 12, "x 3 4 9", name="sums", equation="ijk->i")


def window() -> Iterator[Row]:
    yield row("Conv", 22, "x 1 3 9 9", "weight 4 3 3 3", "weight 4", pads=[1, 1, 1, 1])
    yield row("Conv", 22, "x 2 4 17", "weight 6 2 5", name="grouped", group=2, strides=[2], dilations=[2], pads=[3, 2])
    yield row("Conv", 22, "x 1 6 14 14", "weight 8 6 3 3", name="large", regimes="real constant two")
    yield row("ConvTranspose", 22, "x 1 3 5 4", "weight 3 2 3 3", "weight 2", strides=[2, 1], pads=[1, 0, 1, 0])
    yield row("AveragePool", 22, "x 1 3 9 9", kernel_shape=[3, 4], strides=[2, 2], pads=[1, 1, 1, 1])
    yield row(
        "AveragePool", 22, "x 1 3 9 9", name="padded", kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1
    )
    yield row("GlobalAveragePool", 22, "x 2 3 9 8")
    yield row("MaxPool", 22, "x 1 3 9 9", kernel_shape=[3, 3])
    yield row("GlobalMaxPool", 22, "x 2 3 9 8")
    for p in (1, 2, 3):
        yield row("LpPool", 22, "x 1 2 9 9", name=f"p{p}", kernel_shape=[3, 4], p=p)
    yield row("GlobalLpPool", 22, "x 2 3 9 8", p=2)
    yield row("Col2Im", 18, "x 1 18 16", ints(6, 6), ints(3, 3))


def quantise() -> Iterator[Row]:
    codes = (np.arange(123).reshape(3, 41) * 37 % 256).astype(np.uint8)
    middle = np.array([128, 3, 200], np.uint8)
    yield row("QuantizeLinear", 19, "x 3 41", "positive", np.array(128, np.uint8))
    yield row("QuantizeLinear", 19, "x 3 41", "positive 3", (middle ^ 128).view(np.int8), name="each_row", axis=0)
    yield row("DequantizeLinear", 19, codes, "positive", np.array(128, np.uint8), regimes="real")
    yield row("DequantizeLinear", 19, codes, "positive 3", middle, name="each_row", axis=0, regimes="real")
    yield row("DynamicQuantizeLinear", 11, "x 131", outputs=3, regimes="whole logs cancel giant constant two real far")
    left, right = codes[:, :20], codes.reshape(-1)[::-1][:60].reshape(20, 3).copy()
    low, high = np.array(5, np.uint8), np.array(250, np.uint8)
    yield row("MatMulInteger", 10, left, right, low, high, regimes="whole")
    scales = [np.array(x, np.float32) for x in (0.013, 0.4, 1.7)]
    yield row("QLinearMatMul", 10, left, scales[0], low, right, scales[1], high, scales[2], low, regimes="real")
    image, filters = codes.reshape(-1)[:98].reshape(1, 2, 7, 7), codes.reshape(-1)[20:74].reshape(3, 2, 3, 3)
    yield row("ConvInteger", 10, image, filters, low, high, regimes="whole")
    quantised = (image, scales[0], low, filters, scales[1], high, scales[2], low)
    yield row("QLinearConv", 10, *quantised, np.array([7, -900, 30], np.int32), regimes="real")


def resample() -> Iterator[Row]:
    for mode in ("linear", "cubic"):
        for place in ("half_pixel", "asymmetric", "align_corners"):
            yield row("Resize", 19, "x 1 2 5 7", None, floats(1, 1, 1.7, 2.3), name=f"{mode}_{place}", mode=mode,
                      coordinate_transformation_mode=place)  # fmt: skip
    yield row(
        "Resize", 19, "x 1 1 16 16", None, floats(1, 1, 2.3, 2.3), name="large", mode="linear", regimes="real two"
    )
    yield row("Upsample", 9, "x 1 2 5 7", floats(1, 1, 1.7, 2.3), mode="linear")


def recurrent() -> Iterator[Row]:
    n, k = 6, 5
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        weights = (f"weight 1 {gates * n} {k}", f"weight 1 {gates * n} {n}", f"weight 1 {2 * gates * n}")
        outputs = 3 if op == "LSTM" else 2
        yield row(op, 22, f"x 7 2 {k}", *weights, hidden_size=n, outputs=outputs)
        yield row(op, 22, f"x 7 2 {k}", *weights, None, f"weight 1 2 {n}", name="reverse", direction="reverse",
                  hidden_size=n, outputs=outputs)  # fmt: skip
    weights = (f"weight 1 {3 * n} {k}", f"weight 1 {3 * n} {n}", f"weight 1 {6 * n}")
    yield row("GRU", 22, f"x 7 2 {k}", *weights, name="linear", linear_before_reset=1, hidden_size=n, outputs=2)


def move() -> Iterator[Row]:
    yield row("Identity", 21, "x 41")
    yield row("Transpose", 21, "x 3 4 5", perm=[2, 0, 1])
    yield row("Reshape", 21, "x 3 4 5", ints(5, 12))
    yield row("Concat", 13, "x 3 4", "x 2 4", axis=0)
    yield row("Gather", 13, "x 7 4", ints(6, 0, 3), axis=0)
    yield row("Pad", 21, "x 3 4", ints(1, 0, 0, 2), "weight")
    yield row("Tile", 13, "x 3 4", ints(2, 1))
    yield row("TopK", 24, "x 3 17", ints(5), outputs=2, regimes="whole logs cancel giant real far")
    yield row("ScatterElements", 18, "x 5", np.arange(40).astype(np.int64) * 3 % 5, "x 40", reduction="add")


def measure() -> Iterator[Row]:
    yield row("Shape", 21, "x 3 4")
    yield row("Size", 21, "x 3 4")


FORMS = {
    "contract": contract,
    "elementwise": elementwise,
    "measure": measure,
    "move": move,
    "normalise": normalise,
    "quantise": quantise,
    "recurrent": recurrent,
    "reduce": reduce,
    "resample": resample,
    "window": window,
}
