"""Loads a model in ONNX Runtime."""

from collections.abc import Callable


def load(model: str) -> Callable:
    import onnxruntime

    session = onnxruntime.InferenceSession(model)
    return lambda feeds: session.run(None, feeds)
