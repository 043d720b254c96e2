"""Inputs of the models of a folder, by its file inputs.json: {model: {input: {shape, dtype, fill}}}.

`fill` is randn, rand, zeros or ones; randint (from `low` to below `high`, or randint:HIGH), const (`value`), or arange
(from `start`, along the last dimension); a number stands for a constant. For strings it is choice (of `values`), else
they are short sentences.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

WORDS = "stone gold river mountain quick slow bright dark seven forty under over never again".split()
SENTENCE = 8  # words


class InputsError(Exception):
    """A specification that no array follows from."""


def specs_of(folder: Path) -> dict[str, dict[str, Any]]:
    """Returns the specifications by model; none without a file."""
    file = folder / "inputs.json"
    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputsError(f"{file} is no JSON: {error}") from error
    if not isinstance(found, dict) or not all(isinstance(each, dict) for each in found.values()):
        raise InputsError(f"{file} is not {{model: {{input: {{shape, dtype, fill}}}}}}")
    return found


def array_of(spec: dict[str, Any], random: np.random.Generator) -> np.ndarray:
    try:
        return _array_of(spec, random)
    except (KeyError, TypeError, ValueError) as error:
        raise InputsError(f"no array follows from {spec}: {error!r}") from error


def _array_of(spec: dict[str, Any], random: np.random.Generator) -> np.ndarray:
    shape, fill = tuple(spec["shape"]), spec.get("fill", "randn")
    if spec["dtype"] == "string":
        chosen = spec["values"] if fill == "choice" else None
        texts = [random.choice(chosen or WORDS, 1 if chosen else SENTENCE) for _ in range(int(np.prod(shape)))]
        return np.array([" ".join(text) for text in texts], dtype=str).reshape(shape)
    dtype = np.dtype(spec["dtype"])
    if isinstance(fill, int | float):
        return np.full(shape, fill).astype(dtype)
    name, _, below = fill.partition(":")
    if name == "randint":
        low, high = (0, int(below)) if below else (spec.get("low", 0), spec["high"])
        return random.integers(low, high, size=shape).astype(dtype)
    if name == "arange":
        row = np.arange(spec.get("start", 0), spec.get("start", 0) + shape[-1])
        return np.ascontiguousarray(np.broadcast_to(row, shape)).astype(dtype)
    numbers = {
        "randn": lambda: random.standard_normal(size=shape),
        "rand": lambda: random.random(size=shape),
        "const": lambda: np.full(shape, spec["value"]),
        "zeros": lambda: np.zeros(shape),
        "ones": lambda: np.ones(shape),
    }
    if name not in numbers:
        raise ValueError(f"there is no fill '{fill}'")
    return np.asarray(numbers[name]()).astype(dtype)


def write_sets(specs: dict[str, Any], folder: Path, sets: int) -> Path:
    """Writes sets of inputs as .npy files, and the file that `touchstone bench --feeds` reads; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for which in range(sets):
        random = np.random.default_rng(which + 1)
        row = {}
        for name, spec in specs.items():
            file = folder / f"set_{which}_{len(row)}.npy"
            np.save(file, array_of(spec, random))
            row[name] = str(file)
        written.append(row)
    feeds = folder / "feeds.json"
    feeds.write_text(json.dumps({"sets": written}), encoding="utf-8")
    return feeds
