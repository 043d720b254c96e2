"""Functions on models: what the command's subcommands of these names do, with the object of --json as a dict."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from touchstone import _native
from touchstone.errors import Error
from touchstone.opening import is_bytes, settings_of, source_of
from touchstone.options import SessionOptions

Model = str | os.PathLike[str] | bytes
Report = dict[str, Any]


def _name_of(model: Model) -> str:
    return "" if is_bytes(model) else os.fsdecode(model)


def _object(text: str) -> Report:
    import json

    return json.loads(text)


def show(model: Model, *, shapes: bool = False, limits: str = "untrusted") -> Report:
    """Returns a model's inputs, outputs, nodes and metadata; with `shapes`, the inferred shapes of all values."""
    return _object(_native.show(source_of(model), _name_of(model), shapes, limits))


def check(model: Model, *, limits: str = "untrusted") -> Report:
    """Checks a model against the rules of the format and of its operators. Returns {"valid": .., "breaches": [..]},
    worst first. Raises Error for a file that cannot be read.
    """
    return _object(_native.check(source_of(model), _name_of(model), limits))


def optimize(
    model: Model,
    out: str | os.PathLike[str],
    *,
    level: str = "basic",
    with_passes: Sequence[str] = (),
    without_passes: Sequence[str] = (),
    save_shapes: bool = False,
    limits: str = "trusted",
) -> Report:
    """Writes a better graph that means the same to `out`, as plain ONNX. Returns what each pass changed.

    With `save_shapes` the file declares the inferred shapes of its values: numbers, or expressions of its symbols.
    """
    options = SessionOptions(
        graph_optimization_level=level, with_passes=with_passes, without_passes=without_passes, limits=limits
    )
    settings = settings_of(options)
    return _object(_native.optimize(source_of(model), _name_of(model), os.fsencode(out), settings, save_shapes))


def convert(
    model: Model, opset: int | Mapping[str, int], out: str | os.PathLike[str] | None = None, *, limits: str = "trusted"
) -> Report:
    """Converts a model to another opset: a number for ai.onnx, or one for each domain. Writes it to `out`, if given."""
    opsets = {"": opset} if isinstance(opset, int) else {"" if k == "ai.onnx" else k: v for k, v in opset.items()}
    if not opsets:
        raise Error("usage", "convert takes an opset", help="convert(model, 17, 'out.onnx')")
    file = b"" if out is None else os.fsencode(out)
    return _object(_native.convert(source_of(model), _name_of(model), file, opsets, limits))
