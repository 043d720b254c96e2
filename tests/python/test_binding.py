"""IOBinding: inputs read at each run, outputs written to the caller's memory; runs in threads of their own."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import onnx
import pytest
import touchstone
from onnx import TensorProto

from tests.python import models
from tests.python.test_limits import counting
from tests.python.test_ortvalue import runtime_error
from tests.python.test_session import ADD, RUNTIMES, drawn, refused


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_an_input_is_read_and_an_output_written_at_each_run(runtime: str) -> None:
    session = touchstone.InferenceSession(ADD, runtime=runtime)
    binding = session.io_binding()
    a, b, out = drawn(2, 4), drawn(2, 4, seed=1), np.empty((2, 4), np.float32)
    binding.bind_cpu_input("a", a)
    binding.bind_input("b", "cpu", 0, np.float32, (2, 4), b.ctypes.data)
    binding.bind_output("sum", "cpu", 0, np.float32, (2, 4), out.ctypes.data)
    for k in range(3):
        a[...], b[...] = drawn(2, 4, seed=k), drawn(2, 4, seed=k + 9)
        binding.synchronize_inputs()
        session.run_with_iobinding(binding)
        binding.synchronize_outputs()
        assert out.tolist() == (a + b).tolist()
        assert binding.get_outputs()[0].data_ptr() == out.ctypes.data


def test_outputs_in_new_memory() -> None:
    session = touchstone.InferenceSession(models.NETWORK)
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", touchstone.OrtValue.ortvalue_from_numpy(drawn(1, 3, 16, 16)))
    binding.bind_output("y")
    binding.bind_output("f", "cpu")
    session.run_with_iobinding(binding, touchstone.RunOptions())
    f, y = session.run(None, {"x": drawn(1, 3, 16, 16)})
    first = binding.get_outputs()
    assert [each.numpy().tobytes() for each in first] == [y.tobytes(), f.tobytes()]
    copies = binding.copy_outputs_to_cpu()
    session.run_with_iobinding(binding)
    assert [each.tobytes() for each in copies] == [each.numpy().tobytes() for each in first]
    assert binding.get_outputs()[0].data_ptr() != first[0].data_ptr()
    assert len(binding.get_outputs_as_ortvaluevector()) == 2


def test_bound_values_make_a_cache() -> None:
    """A decode loop: an output of one run is the input of the next, without a copy by the caller."""
    session = touchstone.InferenceSession(
        models.parsed(
            "g (float[n] past, float[m] token) => (float[k] present) { present = Concat <axis = 0> (past, token) }"
        )
    )
    binding = session.io_binding()
    past = touchstone.OrtValue.ortvalue_from_numpy(np.empty(0, np.float32))
    for k in range(6):
        binding.bind_ortvalue_input("past", past)
        binding.bind_cpu_input("token", np.float32([k]))
        binding.bind_output("present")
        session.run_with_iobinding(binding)
        (past,) = binding.get_outputs()
    assert past.numpy().tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("code", [TensorProto.BFLOAT16, TensorProto.INT4, TensorProto.BOOL, TensorProto.STRING])
def test_bound_values_of_every_sort(code: int) -> None:
    session = touchstone.InferenceSession(models.handed_on(models.tensor(code), opset=23))
    source = touchstone.OrtValue.ortvalue_from_shape_and_type([3], code)
    source.numpy()[...] = (
        np.array([1, 0, 1]).astype(source.numpy().dtype) if code != TensorProto.STRING else ["a", "", "é"]
    )
    target = touchstone.OrtValue.ortvalue_from_shape_and_type([3], code)
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", source)
    binding.bind_ortvalue_output("y", target)
    session.run_with_iobinding(binding)
    assert target.numpy().tolist() == source.numpy().tolist()


def test_what_does_not_fit_is_refused() -> None:
    session = touchstone.InferenceSession(ADD)
    binding = session.io_binding()
    feed = drawn(2, 4)
    for work in (
        lambda: binding.bind_cpu_input("c", feed),
        lambda: binding.bind_output("difference"),
        lambda: binding.bind_output("sum", "cpu", 0, None, None, feed.ctypes.data),
        lambda: session.run_with_iobinding(binding),
    ):
        assert runtime_error(work).kind == "usage"
    binding.bind_output("sum")
    assert refused(lambda: session.run_with_iobinding(binding)).rule == "feed/missing"
    binding.bind_cpu_input("a", feed)
    binding.bind_cpu_input("b", feed)
    for shape, kind in [((4, 2), np.float32), ((2, 4), np.int32)]:
        out = np.zeros(shape, kind)
        binding.bind_ortvalue_output("sum", touchstone.OrtValue.ortvalue_from_numpy(out))
        assert "memory is bound for" in runtime_error(lambda: session.run_with_iobinding(binding)).message
        assert not out.any()
    for shape, address in [((2, -4), feed.ctypes.data), ((2, 4), 0)]:
        error = refused(lambda shape=shape, address=address: binding.bind_input("a", "cpu", 0, 1, shape, address))
        assert error.kind == "usage" and str(address) in error.message
    frozen = np.zeros((2, 4), np.float32)
    frozen.flags.writeable = False
    value = touchstone.OrtValue.ortvalue_from_numpy(frozen)
    assert runtime_error(lambda: binding.bind_ortvalue_output("sum", value)).kind == "usage"
    for work in (
        lambda: binding.bind_output("sum", "cuda"),
        lambda: binding.bind_input("a", "cuda", 0, np.float32, (2, 4), feed.ctypes.data),
    ):
        assert refused(work).kind == "unsupported"
    assert refused(lambda: touchstone.InferenceSession(ADD).run_with_iobinding(binding)).kind == "usage"
    binding.clear_binding_inputs()
    binding.clear_binding_outputs()
    assert binding.get_outputs() == [] and binding.copy_outputs_to_cpu() == []


def test_sizes_of_zero_are_bound() -> None:
    session = touchstone.InferenceSession(ADD)
    binding = session.io_binding()
    for name in "ab":
        binding.bind_input(name, "cpu", 0, np.float32, (0, 4), 0)
    binding.bind_output("sum", "cpu", 0, np.float32, (0, 4), 0)
    session.run_with_iobinding(binding)
    assert binding.get_outputs()[0].shape() == [0, 4]


class Called:
    """A callback that keeps its arguments."""

    def __init__(self) -> None:
        self.done = threading.Event()

    def __call__(self, outputs: list[Any], data: Any, error: str) -> None:
        self.outputs, self.data, self.error = outputs, data, error
        self.done.set()


def test_a_run_calls_back() -> None:
    session = touchstone.InferenceSession(ADD)
    a, called = drawn(2, 4), Called()
    session.run_async(None, {"a": a, "b": a}, called, "mine")
    a[...] = 0
    assert called.done.wait(60)
    assert (called.data, called.error) == ("mine", "")
    assert called.outputs[0].tolist() == (drawn(2, 4) * 2).tolist()
    called = Called()
    session.run_async(["sum"], {"a": drawn(2, 4), "b": drawn(3, 4)}, called, None)
    assert called.done.wait(60) and called.outputs == [] and "feed/shape" in called.error
    assert refused(lambda: session.run_async(["z"], {}, called, None)).kind == "usage"


def test_a_run_that_calls_back_is_ended() -> None:
    session = touchstone.InferenceSession(counting(1), deadline=20)
    options, called = touchstone.RunOptions(), Called()
    session.run_async(None, {"trips": np.array(90_000_000)}, called, None, options)
    options.terminate = True
    assert called.done.wait(60) and called.outputs == [] and "cancelled" in called.error


def test_devices_of_inputs_and_outputs() -> None:
    session = touchstone.InferenceSession(models.NETWORK)
    infos = [*session.get_input_memory_infos(), *session.get_output_memory_infos()]
    assert [info.name for info in infos] == ["Cpu"] * 3
    assert [device.ep_name for device in session.get_input_epdevices()] == ["CPUExecutionProvider"]


def test_nodes_are_assigned_to_the_processor() -> None:
    options = touchstone.SessionOptions()
    assert refused(touchstone.InferenceSession(ADD).get_provider_graph_assignment_info).kind == "usage"
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    for runtime in RUNTIMES:
        session = touchstone.InferenceSession(ADD, options, runtime=runtime)
        (part,) = session.get_provider_graph_assignment_info()
        assert part.ep_name == "CPUExecutionProvider" and session.ignored_options == {}
        assert [node.op_type for node in part.get_nodes()] == [
            node.op_type for node in onnx.ModelProto.FromString(ADD).graph.node
        ]


def test_calls_about_other_providers_do_nothing() -> None:
    session = touchstone.InferenceSession(ADD)
    session.disable_fallback()
    session.enable_fallback()
    session.release_captured_graph(1)
    session.set_tuning_results([])
    assert session.get_tuning_results() == [] and session.ignored_options == {}
    assert session.get_provider_options() == {"CPUExecutionProvider": {}}
    session.set_providers(["CPUExecutionProvider"], [{"use_arena": "1"}])
    session.set_ep_dynamic_options({"ep.dynamic.workload_type": "Efficient"})
    session.set_tuning_results([{"ep": "CUDA"}])
    assert session.ignored_options == {
        "CPUExecutionProvider.use_arena": "1",
        "dynamic.ep.dynamic.workload_type": "Efficient",
        "tuning_results": [{"ep": "CUDA"}],
    }
    assert refused(lambda: session.set_tuning_results([{}], error_on_invalid=True)).kind == "unsupported"
    assert refused(lambda: session.set_providers(["CUDAExecutionProvider"])).kind == "unsupported"
