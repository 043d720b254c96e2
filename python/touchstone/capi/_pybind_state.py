"""ONNX Runtime's second name for the module of its exceptions."""

from touchstone.capi.onnxruntime_pybind11_state import *  # noqa: F403
