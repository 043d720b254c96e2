"""OpenVINO in its fastest configuration for one caller: static shapes, one stream, latency hint; float32 as all
others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openvino

VERSION = f"OpenVINO {openvino.__version__}"
FOLDER = Path(openvino.__file__).parent


class Session:
    def __init__(self, model: str, threads: int, dims: dict[str, int], shapes: dict[str, list[int]]):
        core = openvino.Core()
        read = core.read_model(model)
        if read.is_dynamic():
            by_name = {name: port for port in read.inputs for name in port.get_names()}
            read.reshape({by_name[name]: openvino.PartialShape(shape) for name, shape in shapes.items()})
        settings = {
            "PERFORMANCE_HINT": "LATENCY",
            "NUM_STREAMS": "1",
            "INFERENCE_NUM_THREADS": str(threads),
            "INFERENCE_PRECISION_HINT": "f32",
        }
        self.compiled = core.compile_model(read, "CPU", settings)
        self.request = self.compiled.create_infer_request()
        self.names = [sorted(port.get_names()) for port in self.compiled.outputs]
        self.settings = ", ".join(f"{key} {value}" for key, value in settings.items())

    def prepared(self, feeds: dict[str, Any]) -> Any:
        return {name: openvino.Tensor(value, shared_memory=True) for name, value in feeds.items()}

    def run(self, feeds: Any) -> Any:
        return self.request.infer(feeds, share_inputs=True, share_outputs=True)

    def named(self, raw: Any) -> dict[str, Any]:
        """Returns outputs by name. An output may have several names. It is copied, since the next run overwrites it."""
        values = [np.array(value) for value in raw.values()]
        return {name: value for names, value in zip(self.names, values, strict=True) for name in names}
