"""Classes that code names from this module of ONNX Runtime."""

from touchstone.binding import IOBinding
from touchstone.devices import OrtDevice
from touchstone.options import RunOptions, SessionOptions
from touchstone.ortvalue import OrtValue
from touchstone.session import InferenceSession

Session = InferenceSession

__all__ = ["IOBinding", "InferenceSession", "OrtDevice", "OrtValue", "RunOptions", "Session", "SessionOptions"]
