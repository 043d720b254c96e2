"""Calls that programs on PyPI make of ONNX Runtime, in their order: python programs.py RUNTIME FOLDER OUT

RUNTIME is onnxruntime, or touchstone in its place. Models are in FOLDER; their arithmetic is exact in float32, so that
answers are equal bit by bit. Each function is named after its program and returns what the program would use.
"""

from __future__ import annotations

import ast
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(sys.argv[2]) if len(sys.argv) > 2 else Path()
if __name__ == "__main__" and sys.argv[1] == "touchstone":
    import touchstone

    sys.modules["onnxruntime"] = touchstone


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    """Whole numbers, so that sums of products are exact."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def silero_vad() -> Any:
    """utils_vad.OnnxWrapper: options, then runs that hand a state on."""
    import onnxruntime

    opts = onnxruntime.SessionOptions()
    opts.inter_op_num_threads = 1
    opts.intra_op_num_threads = 1
    assert "CPUExecutionProvider" in onnxruntime.get_available_providers()
    session = onnxruntime.InferenceSession(
        str(FOLDER / "state.onnx"), providers=["CPUExecutionProvider"], sess_options=opts
    )
    state, outs = np.zeros((2, 1, 4), np.float32), []
    for k in range(3):
        feeds = {"input": drawn(1, 4, seed=k), "state": state, "sr": np.array(16000, dtype="int64")}
        out, state = session.run(None, feeds)
        outs.append(out)
    return outs, state


def faster_whisper() -> Any:
    """vad.SileroVADModel: options that save memory and logs, a named provider, batches."""
    import onnxruntime

    opts = onnxruntime.SessionOptions()
    opts.inter_op_num_threads = 1
    opts.intra_op_num_threads = 1
    opts.enable_cpu_mem_arena = False
    opts.log_severity_level = 4
    session = onnxruntime.InferenceSession(FOLDER / "state.onnx", providers=["CPUExecutionProvider"], sess_options=opts)
    feeds = {"input": drawn(1, 4), "state": drawn(2, 1, 4), "sr": np.array(16000)}
    return session.run(None, feeds), [each.name for each in session.get_outputs()]


def embedder(threads: int | None, severity: int | None) -> Any:
    import onnxruntime as ort

    available = ort.get_available_providers()
    so = ort.SessionOptions()
    so.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    if threads is not None:
        so.intra_op_num_threads = threads
        so.inter_op_num_threads = threads
    if severity is not None:
        so.log_severity_level = severity
    session = ort.InferenceSession(
        str(FOLDER / "embed.onnx"),
        providers=[name for name in available if name == "CPUExecutionProvider"],
        sess_options=so,
    )
    ids = np.array([[2, 5, 3, 0], [2, 3, 0, 0]], dtype=np.int64)
    names = {each.name for each in session.get_inputs()}
    feeds = {"input_ids": ids, "attention_mask": (ids != 0).astype(np.int64), "token_type_ids": np.zeros_like(ids)}
    return session.run(None, {name: value for name, value in feeds.items() if name in names})


def chromadb() -> Any:
    """ONNXMiniLM_L6_V2.model: logs off, providers that are there."""
    return embedder(None, 3)


def fastembed() -> Any:
    """OnnxModel._load_onnx_model: threads by both names."""
    return embedder(1, None)


def rapidocr() -> Any:
    """OrtInferSession: options of the CPU provider, characters from the model's metadata."""
    from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions, get_device

    options = SessionOptions()
    options.log_severity_level = 4
    options.enable_cpu_mem_arena = False
    options.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
    providers = [("CPUExecutionProvider", {"arena_extend_strategy": "kSameAsRequested"})]
    session = InferenceSession(str(FOLDER / "image.onnx"), sess_options=options, providers=providers)
    meta = session.get_modelmeta().custom_metadata_map
    characters = meta["character"].splitlines() if "character" in meta else []
    feed = dict(zip([each.name for each in session.get_inputs()], [drawn(1, 3, 8, 8)], strict=True))
    return get_device(), characters, session.run([each.name for each in session.get_outputs()], feed)


def rembg() -> Any:
    """BaseSession: the device's name decides on the providers."""
    import onnxruntime as ort

    ort.set_default_logger_severity(3)
    providers = ["CPUExecutionProvider"]
    if ort.get_device() == "GPU" and "CUDAExecutionProvider" in ort.get_available_providers():
        providers.insert(0, "CUDAExecutionProvider")
    session = ort.InferenceSession(str(FOLDER / "image.onnx"), sess_options=ort.SessionOptions(), providers=providers)
    return session.run(None, {session.get_inputs()[0].name: drawn(1, 3, 16, 16)}), session.get_providers()


def insightface() -> Any:
    """ModelRouter: a class of its own that is pickled, attributes of sessions, providers set late."""
    import onnxruntime

    class Pickable(onnxruntime.InferenceSession):
        def __init__(self, model_path: str, **settings: Any):
            super().__init__(model_path, **settings)
            self.model_path = model_path

    first = onnxruntime.InferenceSession(str(FOLDER / "image.onnx"), None)
    session = Pickable(str(FOLDER / "image.onnx"), providers=first.get_providers(), provider_options=[{}])
    session.set_providers(["CPUExecutionProvider"])
    shape = session.get_inputs()[0].shape
    routed = (len(session.get_outputs()), shape[1], session._providers, session._provider_options)
    return routed, session.run(None, {"x": drawn(2, 3, 8, 8)})


def piper() -> Any:
    """PiperVoice: three inputs of a voice, output of an open length."""
    import onnxruntime

    session = onnxruntime.InferenceSession(
        str(FOLDER / "voice.onnx"), sess_options=onnxruntime.SessionOptions(), providers=["CPUExecutionProvider"]
    )
    ids = np.expand_dims(np.array([1, 4, 0, 7, 2], dtype=np.int64), 0)
    feeds = {
        "input": ids,
        "input_lengths": np.array([ids.shape[1]], dtype=np.int64),
        "scales": np.array([0.5, 1.0, 2.0], dtype=np.float32),
    }
    return session.run(None, feeds)[0].squeeze()


def yolo() -> Any:
    """A multi-backend loader: metadata of the exporter, outputs bound to arrays by address."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(FOLDER / "image.onnx"), providers=["CPUExecutionProvider"])
    metadata = session.get_modelmeta().custom_metadata_map
    im = drawn(1, 3, 8, 8)
    io = session.io_binding()
    bound = []
    for output in session.get_outputs():
        y = np.empty((1, 4, 8, 8), dtype=np.float32)
        io.bind_output(
            name=output.name,
            device_type="cpu",
            device_id=0,
            element_type=np.float32,
            shape=tuple(y.shape),
            buffer_ptr=y.ctypes.data,
        )
        bound.append(y)
    io.bind_input(
        name="x",
        device_type="cpu",
        device_id=0,
        element_type=np.float32,
        shape=tuple(im.shape),
        buffer_ptr=im.ctypes.data,
    )
    session.run_with_iobinding(io)
    return bound, int(metadata["stride"]), ast.literal_eval(metadata["names"]), metadata.get("task")


def zipformer() -> Any:
    """A streaming recognizer: caches by name from the metadata, one chunk after another."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.inter_op_num_threads = 1
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(
        str(FOLDER / "stream.onnx"), sess_options=options, providers=["CPUExecutionProvider"]
    )
    size = int(session.get_modelmeta().custom_metadata_map["conv_dim"])
    names = [each.name for each in session.get_outputs()]
    states = {"cached_conv": np.zeros((1, size, 2), np.float32), "cached_len": np.zeros(1, np.int64)}
    outs = []
    for k in range(3):
        out, *new = session.run(names, {"x": drawn(1, size, 5, seed=k), **states})
        states = dict(zip(states, new, strict=True))
        outs.append(out)
    return outs, states


def optimum() -> Any:
    """ORTSessionMixin: the model's path, options of providers, values bound without a copy."""
    from onnxruntime import InferenceSession, IOBinding, OrtValue

    session = InferenceSession(str(FOLDER / "embed.onnx"), providers=["CPUExecutionProvider"])
    binding = IOBinding(session)
    ids = np.array([[2, 5, 3]], dtype=np.int64)
    binding.bind_ortvalue_input("input_ids", OrtValue.ortvalue_from_numpy(ids))
    mask = np.ones_like(ids)
    binding.bind_input("attention_mask", "cpu", 0, np.int64, mask.shape, mask.ctypes.data)
    binding.bind_output("last_hidden_state", "cpu")
    binding.synchronize_inputs()
    session.run_with_iobinding(binding)
    binding.synchronize_outputs()
    (out,) = binding.get_outputs()
    types = [each.type for each in session.get_inputs()]
    return Path(session._model_path).name, session.get_provider_options(), out.numpy(), out.data_type(), types


PROGRAMS = (
    silero_vad,
    faster_whisper,
    chromadb,
    fastembed,
    rapidocr,
    rembg,
    insightface,
    piper,
    yolo,
    zipformer,
    optimum,
)

if __name__ == "__main__":
    Path(sys.argv[3]).write_bytes(pickle.dumps({program.__name__: program() for program in PROGRAMS}))
