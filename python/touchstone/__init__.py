"""Touchstone: ONNX models, run by the fast executor or by the reference.

    import touchstone

    session = touchstone.InferenceSession("resnet50.onnx", intra_op_num_threads=2)
    (scores,) = session.run(None, {"x": image})

Code written for ONNX Runtime works after changing the import.
"""

from touchstone._native import __version__
from touchstone.errors import Error
from touchstone.session import GraphOptimizationLevel, InferenceSession, ModelMetadata, NodeArg, SessionOptions

__all__ = [
    "Error",
    "GraphOptimizationLevel",
    "InferenceSession",
    "ModelMetadata",
    "NodeArg",
    "SessionOptions",
    "__version__",
]
