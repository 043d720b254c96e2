"""The module's functions, its exceptions under ONNX Runtime's names, and the command behind `python -m touchstone`."""

from __future__ import annotations

import importlib
import json
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import touchstone
from touchstone.capi import onnxruntime_pybind11_state as state

from tests.python import models
from tests.python.built import COMMAND, ENVIRONMENT, PACKAGES
from tests.python.test_limits import counted, counting
from tests.python.test_metadata import described
from tests.python.test_session import ADD, drawn, refused

BAD = models.parsed("g (float[1] x) => (float[1] y) { y = Add(x, z) z = Neg(y) }")


def raised(kind: type[Exception], work: Any) -> touchstone.Error:
    with pytest.raises(kind) as caught:
        work()
    assert isinstance(caught.value, touchstone.Error)
    return caught.value


def test_except_clauses_for_onnxruntime_hold(tmp_path: Path) -> None:
    session = touchstone.InferenceSession(ADD)
    good = {"a": drawn(1, 4), "b": drawn(1, 4)}
    pick = models.parsed("g (float[n] x, int64[m] i) => (float[m] y) { y = Gather(x, i) }")

    def outside_extent() -> Any:
        return touchstone.InferenceSession(pick).run(None, {"x": drawn(3), "i": np.int64([7])})

    for kinds, work in [
        ((state.InvalidArgument, ValueError), lambda: session.run(None, {"a": drawn(1, 4)})),
        ((state.InvalidArgument,), lambda: session.run(None, good | {"c": drawn(1)})),
        ((state.InvalidArgument,), lambda: session.run(["other"], good)),
        ((state.InvalidArgument, state.RuntimeException), outside_extent),
        ((state.NoSuchFile,), lambda: touchstone.InferenceSession(tmp_path / "no.onnx")),
        ((state.Fail,), lambda: touchstone.InferenceSession(tmp_path)),
        ((state.InvalidProtobuf, state.Fail), lambda: touchstone.InferenceSession(b"garbage" * 9)),
        ((state.InvalidGraph, state.Fail), lambda: touchstone.InferenceSession(BAD)),
        ((state.NotImplemented,), lambda: touchstone.SessionOptions().register_custom_ops_library("x.so")),
        (
            (state.RuntimeException, RuntimeError),
            lambda: counted(touchstone.InferenceSession(counting(1), deadline=0.01), 90_000_000),
        ),
    ]:
        for kind in kinds:
            raised(kind, work)


def test_exceptions_are_pickled() -> None:
    error = refused(lambda: touchstone.InferenceSession(BAD))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error) and again.place == error.place


def test_facts_about_this_build(capsys: pytest.CaptureFixture[str]) -> None:
    assert touchstone.get_available_providers() == touchstone.get_all_providers() == ["CPUExecutionProvider"]
    assert touchstone.get_device() == "CPU" and touchstone.has_collective_ops is False
    assert touchstone.get_version_string() == touchstone.__version__ == touchstone.version
    assert touchstone.__version__ in touchstone.get_build_info()
    assert (touchstone.package_name, touchstone.cuda_version) == ("touchstone-onnx", "")
    assert touchstone.import_capi_exception is None
    (device,) = touchstone.get_ep_devices()
    assert device.device.type == touchstone.OrtHardwareDeviceType.CPU
    assert device.memory_info(touchstone.OrtDeviceMemoryType.DEFAULT).name == "Cpu"
    assert refused(lambda: device.create_sync_stream({})).kind == "unsupported"
    touchstone.print_debug_info()
    assert touchstone.get_build_info() in capsys.readouterr().out


def test_calls_without_effect_are_recorded_by_later_sessions() -> None:
    before = touchstone.InferenceSession(ADD)
    info = touchstone.OrtMemoryInfo("Cpu", touchstone.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0)
    kinds = touchstone.OrtMemoryInfoDeviceType
    memory = touchstone.OrtDeviceMemoryType.DEFAULT
    arena = touchstone.OrtAllocatorType.ORT_ARENA_ALLOCATOR
    made = touchstone.OrtMemoryInfo.create_v2("mine", kinds.CPU, 0, 0, memory, 64, arena)
    assert refused(lambda: touchstone.OrtMemoryInfo.create_v2("mine", kinds.GPU, 0, 0, memory, 64, arena)).kind
    calls = {
        "default_logger_verbosity": lambda: touchstone.set_default_logger_verbosity(1),
        "global_thread_pool_sizes": lambda: touchstone.set_global_thread_pool_sizes(2, 1),
        "seed": lambda: touchstone.set_seed(7),
        "allocator": lambda: touchstone.create_and_register_allocator(info, touchstone.OrtArenaCfg(1 << 20, 1, -1, -1)),
        "telemetry": touchstone.enable_telemetry_events,
        "preload_dlls": lambda: touchstone.preload_dlls(directory=""),
    }
    recorded = touchstone.options.ignored_everywhere
    try:
        touchstone.disable_telemetry_events()
        assert recorded == {}
        for name, call in calls.items():
            call()
            assert name in touchstone.InferenceSession(ADD).ignored_options
        touchstone.create_and_register_allocator_v2("CPUExecutionProvider", made, {}, None)
        assert touchstone.InferenceSession(ADD).ignored_options["allocator"] == "mine"
        assert before.ignored_options == {}
    finally:
        recorded.clear()


def test_classes_of_descriptions() -> None:
    options = touchstone.SessionOptions()
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    session = touchstone.InferenceSession(ADD, options)
    (device,) = session.get_input_epdevices()[:1]
    (part,) = session.get_provider_graph_assignment_info()
    for made, kind in [
        (session.get_inputs()[0], touchstone.NodeArg),
        (session.get_modelmeta(), touchstone.ModelMetadata),
        (session.get_input_memory_infos()[0].mem_type, touchstone.OrtMemType),
        (device, touchstone.OrtEpDevice),
        (device.device, touchstone.OrtHardwareDevice),
        (part, touchstone.OrtEpAssignedSubgraph),
        (part.get_nodes()[0], touchstone.OrtEpAssignedNode),
        (session.io_binding(), touchstone.SessionIOBinding),
    ]:
        assert isinstance(made, kind)
    assert touchstone.SessionIOBinding is touchstone.IOBinding
    processor = touchstone.OrtDevice.make("cpu", 0, touchstone.OrtDeviceVendorId.NONE)
    assert (processor.device_id(), processor.device_type(), processor.device_vendor_id()) == (0, 0, 0)
    assert processor.device_mem_type() == touchstone.OrtDeviceMemoryType.DEFAULT
    assert touchstone.OrtDevice.make("cuda", 2).device_type() == 1
    assert touchstone.OrtSparseFormat(2).name == "ORT_SPARSE_CSRC" and touchstone.OrtCompileApiFlags(0).name == "NONE"


@pytest.mark.parametrize(
    "name",
    [
        "AdapterFormat",
        "LoraAdapter",
        "ModelCompiler",
        "OrtEpContextData",
        "OrtEpContextDataBuffer",
        "OrtExternalInitializerInfo",
        "OrtSyncStream",
        "SparseTensor",
    ],
)
def test_a_class_that_is_not_here_is_refused_by_name(name: str) -> None:
    error = refused(lambda: getattr(touchstone, name)("x", 1))
    assert error.kind == "unsupported" and name in error.message


def test_functions_that_are_not_here_are_refused_by_name() -> None:
    for work in (
        lambda: touchstone.LoraAdapter.Load("a"),
        lambda: touchstone.AdapterFormat.read_adapter("a"),
        lambda: touchstone.SparseTensor.sparse_coo_from_numpy([1], [1], [1], None),
        lambda: touchstone.SparseTensor.sparse_csr_from_numpy([1], [1], [1], [1], None),
        lambda: touchstone.register_execution_provider_library("mine", "mine.so"),
    ):
        assert refused(work).kind == "unsupported"
    assert refused(lambda: touchstone.unregister_execution_provider_library("mine")).kind == "usage"


def told(*words: object, code: int = 0) -> dict[str, Any]:
    done = subprocess.run([COMMAND, *map(str, words), "--json"], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_functions_return_what_the_command_prints(tmp_path: Path) -> None:
    path, ours, theirs = tmp_path / "m.onnx", tmp_path / "a.onnx", tmp_path / "b.onnx"
    model = described()
    path.write_bytes(model.SerializeToString())
    assert touchstone.show(path) == told("show", path)
    assert touchstone.show(path, shapes=True) == told("show", path, "--shapes")
    assert touchstone.check(path) == told("check", path)

    def without_file(report: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in report.items() if name != "out"}

    report = touchstone.optimize(path, ours, level="extended", without_passes=["share-nodes"])
    assert report["out"] == str(ours)
    assert without_file(report) == without_file(
        told("optimize", path, "--level", "extended", "--no-pass", "share-nodes", "-o", theirs)
    )
    assert ours.read_bytes() == theirs.read_bytes()
    report = touchstone.convert(path, 17, ours)
    assert without_file(report) == without_file(told("convert", path, "--opset", "17", "-o", theirs))
    assert ours.read_bytes() == theirs.read_bytes() and onnx.load(ours).opset_import[0].version == 17
    assert touchstone.convert(model.SerializeToString(), {"ai.onnx": 18})["after"]["opsets"] == {"ai.onnx": 18}


def test_check_returns_breaches(tmp_path: Path) -> None:
    (tmp_path / "bad.onnx").write_bytes(BAD)
    report = touchstone.check(tmp_path / "bad.onnx")
    assert report == told("check", tmp_path / "bad.onnx", code=3)
    assert not report["valid"] and report["breaches"][0]["rule"] == "model/cycle"
    assert not touchstone.check(b"garbage" * 9)["valid"]
    with pytest.raises(state.NoSuchFile):
        touchstone.check(tmp_path / "no.onnx")


def test_functions_refuse_what_the_command_refuses(tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    for work in (
        lambda: touchstone.optimize(ADD, out, level="most"),
        lambda: touchstone.optimize(ADD, out, with_passes=["no-such-pass"]),
        lambda: touchstone.convert(ADD, 9999, out),
        lambda: touchstone.convert(ADD, {}, out),
        lambda: touchstone.show(ADD, limits="none"),
    ):
        assert refused(work).kind == "usage"
    assert refused(lambda: touchstone.optimize(BAD, out)).rule == "model/cycle"
    assert not out.exists()


def test_the_helper_of_bindings_names_types() -> None:
    from touchstone.transformers.io_binding_helper import TypeHelper

    session = touchstone.InferenceSession(ADD)
    assert TypeHelper.get_input_type(session, "a") == TypeHelper.get_output_type(session, "sum") == "tensor(float)"
    assert TypeHelper.get_io_numpy_type_map(session) == {"a": np.float32, "b": np.float32, "sum": np.float32}
    assert TypeHelper.get_io_onnx_type_map(session) == {"a": 1, "b": 1, "sum": 1}
    assert TypeHelper.ort_type_to_numpy_type("tensor(bool)") is np.bool_
    for work in (
        lambda: TypeHelper.ort_type_to_onnx_type("tensor(string)"),
        lambda: TypeHelper.get_input_type(session, "z"),
    ):
        raised(ValueError, work)


def test_every_module_is_imported() -> None:
    for path in sorted((PACKAGES / "touchstone").rglob("*.py")):
        name = path.relative_to(PACKAGES).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
        assert importlib.import_module(name).__doc__
