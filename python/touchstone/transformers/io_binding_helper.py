"""TypeHelper: element types of a session's inputs and outputs as numpy, torch and ONNX name them."""

from __future__ import annotations

from typing import Any

from touchstone.errors import Error
from touchstone.session import InferenceSession
from touchstone.types import DTYPES, NAMES

_CODES = {f"tensor({name})": code for code, name in NAMES.items() if code in DTYPES}
_TORCH_NAMES = {
    "float": "float32",
    "double": "float64",
    "float8e4m3fn": "float8_e4m3fn",
    "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2",
    "float8e5m2fnuz": "float8_e5m2fnuz",
}


def _type_of(ports: list[Any], name: str) -> str:
    for port in ports:
        if port.name == name:
            return port.type
    raise Error("usage", f"there is no '{name}'")


class TypeHelper:
    """Converts type names such as "tensor(float)"."""

    @staticmethod
    def get_input_type(ort_session: InferenceSession, name: str) -> str:
        return _type_of(ort_session.get_inputs(), name)

    @staticmethod
    def get_output_type(ort_session: InferenceSession, name: str) -> str:
        return _type_of(ort_session.get_outputs(), name)

    @staticmethod
    def ort_type_to_onnx_type(ort_type: str) -> int:
        if ort_type not in _CODES:
            raise Error("usage", f"{ort_type} is not the type of a tensor of numbers")
        return _CODES[ort_type]

    @staticmethod
    def ort_type_to_numpy_type(ort_type: str) -> type:
        return DTYPES[TypeHelper.ort_type_to_onnx_type(ort_type)].type

    @staticmethod
    def ort_type_to_torch_type(ort_type: str) -> Any:
        import torch

        name = NAMES[TypeHelper.ort_type_to_onnx_type(ort_type)]
        return getattr(torch, _TORCH_NAMES.get(name, name))

    @staticmethod
    def get_io_onnx_type_map(ort_session: InferenceSession) -> dict[str, int]:
        ports = [*ort_session.get_inputs(), *ort_session.get_outputs()]
        return {port.name: TypeHelper.ort_type_to_onnx_type(port.type) for port in ports}

    @staticmethod
    def get_io_numpy_type_map(ort_session: InferenceSession) -> dict[str, type]:
        ports = [*ort_session.get_inputs(), *ort_session.get_outputs()]
        return {port.name: TypeHelper.ort_type_to_numpy_type(port.type) for port in ports}
