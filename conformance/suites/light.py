"""Writes the light cases: large graphs with constant weights, fed with the official runner's own dummy data.

The suite holds no inputs for them. The official runner generates them (generate_dummy_data), so they are stored here.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import onnx

from conformance.suites.folders import CaseFacts, value_bytes, write_facts

FOLDER = "onnx/backend/test/data/light/"


def dummy_data(info: onnx.ValueInfoProto) -> np.ndarray:
    """Returns a ramp from 0 towards 1, as onnx.backend.test.runner.Runner.generate_dummy_data does."""
    tensor = info.type.tensor_type
    if tensor.elem_type != onnx.TensorProto.FLOAT:
        raise ValueError(f"dummy data are float tensors only, not {info}")
    shape = tuple(dim.dim_value if dim.HasField("dim_value") else 1 for dim in tensor.shape.dim)
    size = np.prod(shape)
    return (np.arange(size).reshape(shape) / size).astype(np.float32)


def write_light_case(root: Path, facts: CaseFacts, model_file: Path) -> bool:
    """Writes a case. Returns False if the release has only a URL instead of the model or its outputs."""
    if not model_file.is_file():
        return False
    model = onnx.load(model_file)
    expected = [
        model_file.with_name(f"{model_file.stem}_output_{index}.pb") for index in range(len(model.graph.output))
    ]
    if not all(path.is_file() for path in expected):
        return False
    folder = root / facts.kind / facts.name
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    shutil.copyfile(model_file, folder / "model.onnx")
    initialized = {tensor.name for tensor in model.graph.initializer}
    fed = [info for info in model.graph.input if info.name not in initialized]
    for position, info in enumerate(fed):
        (data / f"input_{position}.pb").write_bytes(value_bytes(dummy_data(info), info))
    for position, path in enumerate(expected):
        shutil.copyfile(path, data / f"output_{position}.pb")
    write_facts(folder, facts)
    return True
