"""The evaluator that the onnx package brings, as it comes."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from conformance.targets.target import UnsupportedError


class OnnxReference:
    version = onnx.__version__

    def load(self, model: bytes, options: dict[str, str]) -> ReferenceEvaluator:
        try:
            return ReferenceEvaluator(onnx.ModelProto.FromString(model))
        except NotImplementedError as error:
            raise UnsupportedError(str(error)) from error

    def run(self, loaded: ReferenceEvaluator, feeds: dict[str, Any]) -> dict[str, Any]:
        try:
            with np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
                outputs = loaded.run(None, feeds)
        except NotImplementedError as error:
            raise UnsupportedError(str(error)) from error
        return dict(zip(loaded.output_names, outputs, strict=True))
