"""Options of sessions and runs under ONNX Runtime's names: those that work, those that are recorded, those refused."""

from __future__ import annotations

import copy
import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import touchstone
from onnx import TensorProto, numpy_helper

from tests.python import models
from tests.python.test_limits import ENDLESS, counted, counting
from tests.python.test_session import ADD, RUNTIMES, drawn, outside, refused

CPU = "CPUExecutionProvider"
IDLE = {
    "inter_op_num_threads": 1,
    "execution_mode": touchstone.ExecutionMode.ORT_PARALLEL,
    "execution_order": touchstone.ExecutionOrder.PRIORITY_BASED,
    "use_per_session_threads": False,
    "enable_cpu_mem_arena": False,
    "enable_mem_pattern": False,
    "enable_mem_reuse": False,
    "use_deterministic_compute": True,
    "log_severity_level": 4,
    "log_verbosity_level": 1,
    "logid": "mine",
}


def x_of(*shape: int) -> dict[str, np.ndarray]:
    return {"x": drawn(*shape)}


@pytest.mark.parametrize("name", IDLE)
def test_an_option_without_effect_is_accepted_and_recorded(name: str) -> None:
    options = touchstone.SessionOptions()
    setattr(options, name, getattr(options, name))
    assert touchstone.InferenceSession(ADD, options).ignored_options == {}
    setattr(options, name, IDLE[name])
    assert getattr(options, name) == IDLE[name]
    session = touchstone.InferenceSession(ADD, options)
    assert session.ignored_options == {name: IDLE[name]}
    assert session.run(None, {"a": drawn(1, 4), "b": drawn(1, 4)})[0].tolist() == (drawn(1, 4) * 2).tolist()


@pytest.mark.parametrize(
    "name, value",
    [
        ("inter_op_num_threads", "two"),
        ("intra_op_num_threads", 1.5),
        ("intra_op_num_threads", True),
        ("enable_mem_pattern", "yes"),
        ("execution_mode", 7),
        ("graph_optimization_level", 4),
        ("graph_optimization_level", "most"),
        ("optimized_model_filepath", 3),
    ],
)
def test_a_value_of_another_kind_is_refused(name: str, value: Any) -> None:
    error = refused(lambda: setattr(touchstone.SessionOptions(), name, value))
    assert error.kind == "usage" and name in error.message


def test_levels_are_names_numbers_and_members() -> None:
    levels = touchstone.GraphOptimizationLevel
    options = touchstone.SessionOptions()
    for given, level in [("basic", 1), (2, 2), (levels.ORT_ENABLE_LAYOUT, 3), (99, 99), ("none", 0)]:
        options.graph_optimization_level = given
        assert options.graph_optimization_level == levels(level)
    kernels = []
    for level in levels:
        session = touchstone.InferenceSession(models.NETWORK, graph_optimization_level=level)
        session.run(None, x_of(1, 3, 16, 16))
        kernels.append(len(session.placement()))
    assert kernels[0] == kernels[1] > kernels[2] == kernels[3] == kernels[4]


def test_the_caller_keeps_the_options() -> None:
    options = touchstone.SessionOptions(intra_op_num_threads=1)
    session = touchstone.InferenceSession(ADD, options, graph_optimization_level="basic")
    options.intra_op_num_threads = 2
    kept = session.get_session_options()
    assert (kept.intra_op_num_threads, int(kept.graph_optimization_level)) == (1, 1)
    assert int(options.graph_optimization_level) == 99
    assert isinstance(touchstone.InferenceSession(ADD).get_session_options(), touchstone.SessionOptions)
    assert refused(lambda: touchstone.InferenceSession(ADD, {"intra_op_num_threads": 1})).kind == "usage"


def test_a_copy_of_options_has_its_own_content() -> None:
    options = touchstone.SessionOptions(logid="first")
    options.add_session_config_entry("key", "1")
    again = copy.copy(options)
    again.logid = "second"
    again.add_session_config_entry("key", "2")
    assert (options.logid, options.get_session_config_entry("key")) == ("first", "1")
    assert (again.logid, again.get_session_config_entry("key")) == ("second", "2")


def test_configuration_entries() -> None:
    options = touchstone.SessionOptions()
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.load_model_format", "ONNX")
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"
    with pytest.raises(RuntimeError):
        options.get_session_config_entry("session.other")
    assert touchstone.InferenceSession(ADD, options).ignored_options == {"session.intra_op.allow_spinning": "0"}
    for key, value in [
        ("session.load_model_format", "ORT"),
        ("session.save_model_format", "ORT"),
        ("session.disable_cpu_ep_fallback", "1"),
        ("ep.context_enable", "1"),
    ]:
        error = refused(lambda key=key, value=value: options.add_session_config_entry(key, value))
        assert error.kind == "unsupported" and key in error.message
    assert refused(lambda: options.add_session_config_entry("key", 1)).kind == "usage"


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_open_dimensions_take_a_size(runtime: str) -> None:
    options = touchstone.SessionOptions(runtime=runtime)
    options.add_free_dimension_override_by_name("n", 3)
    session = touchstone.InferenceSession(ADD, options)
    assert [each.shape for each in session.get_inputs()] == [[3, 4], [3, 4]]
    assert session.get_outputs()[0].shape == [3, 4]
    assert session.run(None, {"a": drawn(3, 4), "b": drawn(3, 4)})[0].shape == (3, 4)
    error = refused(lambda: session.run(None, {"a": drawn(2, 4), "b": drawn(2, 4)}))
    assert (error.kind, error.rule) == ("usage", "feed/shape")
    model = onnx.ModelProto.FromString(ADD)
    for value in model.graph.input:
        value.type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    options = touchstone.SessionOptions(runtime=runtime)
    options.add_free_dimension_override_by_denotation("DATA_BATCH", 2)
    session = touchstone.InferenceSession(model.SerializeToString(), options)
    assert session.get_inputs()[0].shape == [2, 4]
    options.add_free_dimension_override_by_denotation("DATA_BATCH", -1)
    assert refused(lambda: touchstone.InferenceSession(model.SerializeToString(), options)).kind == "usage"


def with_weight(value: float) -> bytes:
    return models.parsed(f"g (float[2] x) => (float[2] y) <float[2] w = {{{value}, {value}}}> {{ y = Mul(x, w) }}")


def test_an_initializer_is_replaced() -> None:
    def product(name: str, value: np.ndarray) -> list[float]:
        options = touchstone.SessionOptions()
        options.add_initializer(name, touchstone.OrtValue.ortvalue_from_numpy(value))
        return touchstone.InferenceSession(with_weight(2), options).run(None, {"x": np.float32([1, 2])})[0].tolist()

    assert product("w", np.float32([5, 7])) == [5, 14]
    for name, value in [("v", np.float32([5, 7])), ("w", np.float32([5])), ("w", np.float64([5, 7]))]:
        assert refused(lambda name=name, value=value: product(name, value)).kind == "usage"


def test_external_files_from_memory_and_from_a_folder(tmp_path: Path) -> None:
    model, weights = outside("sub/weights"), np.float32([1, 2, 3, 4]).tobytes()
    feed = {"a": np.zeros((1, 4), np.float32)}
    options = touchstone.SessionOptions()
    options.add_external_initializers_from_files_in_memory(["sub/weights"], [bytearray(weights + b"more")], [16])
    assert touchstone.InferenceSession(model, options).run(None, feed)[0].tolist() == [[1, 2, 3, 4]]
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "weights").write_bytes(weights)
    options = touchstone.SessionOptions()
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(tmp_path))
    session = touchstone.InferenceSession(model, options)
    assert session.run(None, feed)[0].tolist() == [[1, 2, 3, 4]] and session.ignored_options == {}
    options = touchstone.SessionOptions()
    with pytest.raises(ValueError):
        options.add_external_initializers_from_files_in_memory(["w"], [weights], [17])
    options.add_external_initializers_from_files_in_memory(["../weights"], [weights], [16])
    assert refused(lambda: touchstone.InferenceSession(outside("../weights"), options)).kind == "usage"


def test_the_optimized_model_is_written(tmp_path: Path) -> None:
    path = tmp_path / "optimized.onnx"
    model = models.parsed("g (float[n] x) => (float[n] y) { a = Identity(x) b = Neg(a) c = Identity(b) y = Neg(c) }")
    options = touchstone.SessionOptions(optimized_model_filepath=str(path))
    x = {"x": drawn(5)}
    y = touchstone.InferenceSession(model, options).run(None, x)[0]
    assert len(onnx.load(path).graph.node) < 4
    assert touchstone.InferenceSession(path, runtime="reference").run(None, x)[0].tobytes() == y.tobytes()
    options.optimized_model_filepath = tmp_path / "optimized.ort"
    assert refused(lambda: touchstone.InferenceSession(model, options)).kind == "unsupported"


def test_a_profile_has_the_steps_of_every_run(tmp_path: Path) -> None:
    options = touchstone.SessionOptions(enable_profiling=True, profile_file_prefix=str(tmp_path / "p"))
    session = touchstone.InferenceSession(models.NETWORK, options)
    assert session.get_profiling_start_time_ns() > 0
    for _ in range(2):
        session.run(None, x_of(1, 3, 16, 16))
    file = session.end_profiling()
    assert Path(file).parent == tmp_path and session.end_profiling() == ""
    events = json.loads(Path(file).read_text())["traceEvents"]
    assert {each["args"]["name"] for each in events if each["name"] == "process_name"} == {"run 1", "run 2"}
    steps = [each for each in events if each.get("cat") == "step"]
    kernels = [kernel for kernel, _ in session.placement()]
    assert [each["args"]["kernel"] for each in steps] == kernels * 2
    session.run(None, x_of(1, 3, 16, 16))
    other = touchstone.InferenceSession(models.NETWORK, options)
    assert other.end_profiling() not in ("", file)
    plain = touchstone.InferenceSession(ADD)
    assert (plain.end_profiling(), plain.get_profiling_start_time_ns()) == ("", 0)
    assert refused(lambda: touchstone.InferenceSession(ADD, options, runtime="reference")).kind == "unsupported"


def test_providers_of_the_options() -> None:
    options = touchstone.SessionOptions()
    assert not options.has_providers()
    options.add_provider(CPU, {"arena_extend_strategy": "x"})
    assert options.has_providers()
    assert touchstone.InferenceSession(ADD, options).ignored_options == {f"{CPU}.arena_extend_strategy": "x"}
    options = touchstone.SessionOptions()
    options.add_provider("CUDAExecutionProvider", {})
    assert refused(lambda: touchstone.InferenceSession(ADD, options)).kind == "unsupported"
    options = touchstone.SessionOptions()
    options.add_provider_for_devices(touchstone.get_ep_devices(), {})
    assert options.has_providers() and touchstone.InferenceSession(ADD, options).get_providers() == [CPU]


def test_policies_choose_from_one_device() -> None:
    options = touchstone.SessionOptions()
    options.set_provider_selection_policy(touchstone.OrtExecutionProviderDevicePolicy.PREFER_GPU)
    assert touchstone.InferenceSession(ADD, options).ignored_options == {"provider_selection_policy": "PREFER_GPU"}
    seen = []
    options.set_provider_selection_policy_delegate(lambda devices, *_: seen.extend(devices) or devices)
    touchstone.InferenceSession(ADD, options)
    assert [device.ep_name for device in seen] == [CPU]
    options.set_provider_selection_policy_delegate(lambda *_: [])
    assert refused(lambda: touchstone.InferenceSession(ADD, options)).kind == "unsupported"


def test_functions_that_are_never_called_are_recorded() -> None:
    options = touchstone.SessionOptions()

    def read(name: str, buffer: Any) -> None:
        raise AssertionError

    options.set_ep_context_data_read_func(read, 100)
    assert touchstone.InferenceSession(ADD, options).ignored_options == {"ep_context_data_read_func": "read"}
    options.clear_ep_context_data_read_func()
    assert touchstone.InferenceSession(ADD, options).ignored_options == {}


def test_extensions_that_are_not_here_are_refused() -> None:
    options = touchstone.SessionOptions()
    for work in (
        lambda: options.register_custom_ops_library("custom.so"),
        lambda: options.add_external_initializers(["w"], []),
        lambda: touchstone.RunOptions().add_active_adapter(None),
    ):
        assert refused(work).kind == "unsupported"
    error = refused(lambda: options.register_custom_ops_library("custom.so"))
    assert "custom.so" in error.message and "functions" in error.help


def test_run_options_without_effect_are_recorded() -> None:
    options = touchstone.RunOptions()
    session = touchstone.InferenceSession(ADD)
    feeds = {"a": drawn(1, 4), "b": drawn(1, 4)}
    session.run(None, feeds, options)
    assert session.ignored_options == {} and options.terminate is False
    options.log_severity_level, options.log_verbosity_level, options.logid = 0, 2, "a run"
    options.only_execute_path_to_fetches = True
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    assert options.get_run_config_entry("memory.enable_memory_arena_shrinkage") == "cpu:0"
    with pytest.raises(RuntimeError):
        options.get_run_config_entry("other")
    session.run(None, feeds, options)
    assert session.ignored_options == {
        "run.log_severity_level": 0,
        "run.log_verbosity_level": 2,
        "run.logid": "a run",
        "run.only_execute_path_to_fetches": True,
        "run.memory.enable_memory_arena_shrinkage": "cpu:0",
    }


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_terminate_ends_a_run_from_another_thread(runtime: str) -> None:
    session = touchstone.InferenceSession(counting(1), runtime=runtime, deadline=20)
    options = touchstone.RunOptions()
    timer = threading.Timer(0.2, lambda: setattr(options, "terminate", True))
    timer.start()
    error = refused(lambda: session.run(None, {"trips": np.array(90_000_000)}, options))
    timer.join()
    assert error.kind == "cancelled"
    assert refused(lambda: session.run(None, {"trips": np.array(3)}, options)).kind == "cancelled"
    options.terminate = False
    assert session.run(None, {"trips": np.array(3)}, options)[0] == counted(session, 3) == 3


def test_a_load_is_cancelled_from_another_thread() -> None:
    options = touchstone.SessionOptions()
    timer = threading.Timer(0.2, lambda: options.set_load_cancellation_flag(True))
    timer.start()
    error = refused(lambda: touchstone.InferenceSession(ENDLESS, options))
    timer.join()
    assert error.kind == "cancelled" and type(error).__name__ == "ModelLoadCanceled"
    options.set_load_cancellation_flag(False)
    assert touchstone.InferenceSession(ADD, options).get_providers() == [CPU]


def test_deterministic_compute_is_the_only_kind() -> None:
    """Runs on two threads give the same bits every time."""
    weights = numpy_helper.from_array(drawn(512, 64, seed=1), "w")
    model = onnx.ModelProto.FromString(models.parsed("g (float[n,512] x) => (float[n,64] y) { y = MatMul(x, w) }"))
    model.graph.initializer.append(weights)
    assert weights.data_type == TensorProto.FLOAT
    session = touchstone.InferenceSession(
        model.SerializeToString(), intra_op_num_threads=2, use_deterministic_compute=True
    )
    assert len({session.run(None, x_of(7, 512))[0].tobytes() for _ in range(20)}) == 1
