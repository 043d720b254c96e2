"""ONNX Runtime in its fastest configuration: all graph optimizations, known sizes passed to it, spinning threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as native

VERSION = f"ONNX Runtime {onnxruntime.__version__}"
FOLDER = Path(onnxruntime.__file__).parent
UNSUPPORTED = (native.NotImplemented,)


class Session:
    def __init__(self, model: str, threads: int, dims: dict[str, int], shapes: dict[str, list[int]]):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 4
        for symbol, size in dims.items():
            options.add_free_dimension_override_by_name(symbol, size)
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.names = [each.name for each in self.session.get_outputs()]
        self.settings = f"intra-op threads {threads}, inter-op 1, sequential, all optimisations, spinning by default"

    def prepared(self, feeds: dict[str, Any]) -> Any:
        return feeds  # it reads numpy's memory; most programs call run(), not IOBinding

    def run(self, feeds: Any) -> Any:
        return self.session.run(None, feeds)

    def named(self, raw: Any) -> dict[str, Any]:
        return dict(zip(self.names, raw, strict=True))
