"""Compares the primitives of Bounded and Exact with mpmath, which has no code in common with them."""

from __future__ import annotations

import os
import random
import struct
import subprocess
from pathlib import Path

import mpmath
import pytest

mpmath.mp.prec = 300
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", "build"))

DOMAINS = {
    "exp": (-80, 80), "log": (1e-6, 1e6), "sqrt": (0, 1e6), "tanh": (-12, 12), "erf": (-5, 5), "sin": (-100, 100),
    "cos": (-100, 100), "tan": (-100, 100), "asin": (-1, 1), "acos": (-1, 1), "atan": (-100, 100), "sinh": (-40, 40),
    "cosh": (-40, 40), "asinh": (-1e6, 1e6), "acosh": (1, 1e6), "atanh": (-1, 1), "sigmoid": (-80, 80),
    "softplus": (-80, 80), "reciprocal": (-100, 100), "pow": (0.01, 8), "fmod": (-50, 50), "divide": (-50, 50),
}  # fmt: skip
WORKED_OUT = {
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
    "reciprocal": lambda x: 1 / x,
    "pow": mpmath.power,
    "fmod": lambda a, b: mpmath.sign(a) * (abs(a) % abs(b)),
    "divide": lambda a, b: a / b,
}  # fmt: skip
BINARY = {"pow", "fmod", "divide"}


def probe() -> Path:
    found = sorted(BUILD.rglob("primitives_probe"))
    assert found, f"primitives_probe is not built under {BUILD}"
    return found[0]


def float32(x: float) -> float:
    return struct.unpack("f", struct.pack("f", x))[0]


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_values(name: str) -> None:
    source = random.Random(name)
    arguments = [
        [float32(source.uniform(*DOMAINS[name])) for _ in range(2 if name in BINARY else 1)] for _ in range(60)
    ]
    semantics = ["float", "double", "exact"]
    questions = [f"{r} {name} {' '.join(x.hex() for x in xs)}" for r in semantics for xs in arguments]
    answers = subprocess.run(
        [probe()], input="\n".join(questions), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(answers) == len(questions)
    f = WORKED_OUT.get(name) or getattr(mpmath, name)
    unit = {"float": mpmath.ldexp(1, -24), "double": mpmath.ldexp(1, -53), "exact": 0}
    for question, answer in zip(questions, answers, strict=True):
        reading, _, *words = question.split()
        hi, lo, bound = (float.fromhex(w) for w in answer.split())
        want = f(*(mpmath.mpf(float.fromhex(w)) for w in words))
        # 104 bits for double-double; tan and similar functions lose the quad argument's own error.
        assert abs(mpmath.mpf(hi) + lo - want) <= abs(want) * mpmath.ldexp(1, -98), question
        # An exact argument's bound is a few ulp, and at least half of one unless the value is exact.
        assert bound <= 20 * unit[reading] * abs(want) + mpmath.ldexp(1, -140), question
        assert bound >= unit[reading] * abs(want) or (lo == 0 and hi == want), question
