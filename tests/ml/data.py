"""Training data and inputs of the recorded models, and the record format of values."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ml.nodes import Record

draw = np.random.default_rng(7)
X = draw.integers(-16, 17, (90, 4)).astype(np.float32) / 8
WEIGHTS = np.array([1.5, -2.0, 0.75, 0.5])
TARGET = X @ WEIGHTS + X[:, 0] * X[:, 1]
CLASS = np.digitize(TARGET, [-2.0, 2.0])  # 0, 1 or 2
BINARY = (TARGET > 0).astype(int)
TEST = draw.integers(-24, 25, (12, 4)).astype(np.float32) / 8
HOLES = np.where(draw.random(TEST.shape) < 0.2, np.float32(np.nan), TEST)
PARAMS = {"gamma": 0.25, "coef0": 0.5, "degree": 3}
KERNEL_PARAMS = [0.25, 0.5, 3.0]


def floats(array: Any) -> list[float]:
    """Values rounded to float32, as attributes store them."""
    return [float(each) for each in np.asarray(array, dtype=np.float32).ravel()]


def record(
    name: str, op: str, since: int, attributes: Record, inputs: list[Any], outputs: list[Any], **more: Any
) -> Record:
    return {
        "name": name,
        "op": op,
        "since": since,
        "attributes": attributes,
        "inputs": inputs,
        "scikit-learn": outputs,
        **more,
    }


def value(array: Any, of: str = "float") -> Record:
    array = np.asarray(array)
    return {"type": of, "shape": list(array.shape), "data": array.ravel().tolist()}


def single(array: Any) -> Record:
    return value(np.asarray(array, dtype=np.float32))
