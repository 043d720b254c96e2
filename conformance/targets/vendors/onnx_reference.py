"""Target onnx-reference: the unmodified evaluator of the onnx package."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from conformance.targets.target import UnsupportedError

# The evaluator raises RuntimeError for these too; only the message distinguishes them from faults.
LACKS = ("No implementation for operator", "is not implemented", "Not implemented for")


@contextlib.contextmanager
def unsupported_by_message() -> Iterator[None]:
    """Raises UnsupportedError for an operator, a version or a rank that the evaluator does not implement."""
    try:
        yield
    except (NotImplementedError, RuntimeError) as error:
        if isinstance(error, NotImplementedError) or any(word in str(error) for word in LACKS):
            raise UnsupportedError(str(error)) from error
        raise


class OnnxReference:
    version = onnx.__version__

    def load(self, model: bytes, options: dict[str, str]) -> ReferenceEvaluator:
        with unsupported_by_message():
            return ReferenceEvaluator(onnx.ModelProto.FromString(model))

    def run(self, loaded: ReferenceEvaluator, feeds: dict[str, Any]) -> dict[str, Any]:
        with unsupported_by_message(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
            outputs = loaded.run(None, feeds)
        return dict(zip(loaded.output_names, outputs, strict=True))
