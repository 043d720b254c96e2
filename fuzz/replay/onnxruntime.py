"""Loads a model in ONNX Runtime, with the newest IR version and opset that it takes."""

from collections.abc import Callable


def load(model: str) -> Callable:
    import re

    import onnxruntime

    proto = onnx.load(model)  # noqa: F821
    for _ in range(8):
        try:
            session = onnxruntime.InferenceSession(proto.SerializeToString())
            return lambda feeds: session.run(None, feeds)
        except Exception as error:
            if found := re.search(r"max supported IR version: (\d+)", str(error)):
                proto.ir_version = int(found.group(1))
            elif found := re.search(r"for domain (\S+) is till opset (\d+)", str(error)):
                names = ("", "ai.onnx") if found.group(1) == "ai.onnx" else (found.group(1),)
                for one in proto.opset_import:
                    one.version = int(found.group(2)) if one.domain in names else one.version
            else:
                raise
    raise RuntimeError("no IR version and opset fit")
