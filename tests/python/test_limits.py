"""Resource limits of a session, and signals that end its work."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
import touchstone
from onnx import TensorProto, helper

from tests.python import models
from tests.python.test_session import ADD, RUNTIMES, refused


def counting(trips: int) -> bytes:
    """A model that adds one `trips` times."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Add", ["sum", "one"], ["next"])],
        "body",
        [
            helper.make_tensor_value_info("trip", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("sum", TensorProto.FLOAT, [1]),
        ],
        [
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [1]),
        ],
    )
    graph = helper.make_graph(
        [helper.make_node("Loop", ["trips", "", "start"], ["end"], body=body)],
        "counting",
        [helper.make_tensor_value_info("trips", TensorProto.INT64, [])],
        [helper.make_tensor_value_info("end", TensorProto.FLOAT, [1])],
        [
            helper.make_tensor("one", TensorProto.FLOAT, [1], [1.0]),
            helper.make_tensor("start", TensorProto.FLOAT, [1], [0.0]),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return model.SerializeToString()


def counted(session: touchstone.InferenceSession, trips: int) -> float:
    return float(session.run(None, {"trips": np.array(trips)})[0][0])


# A constant expression that would take years to fold.
ENDLESS = models.parsed(
    "g (float[1] z) => (float y) <float[1,1,4] x = {1, 2, 3, 4}> "
    "{ p = MaxPool <kernel_shape = [1000000000000], pads = [500000000000, 500000000000]> (x) y = Add(p, z) }"
)


def interrupted(work: Callable[[], Any]) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_signal_ends_a_run(runtime: str) -> None:
    session = touchstone.InferenceSession(counting(1), runtime=runtime)
    interrupted(lambda: counted(session, 90_000_000))
    assert counted(session, 3) == 3


def test_a_signal_ends_the_making_of_a_session() -> None:
    interrupted(lambda: touchstone.InferenceSession(ENDLESS))


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_run_has_a_deadline_and_the_next_has_its_own(runtime: str) -> None:
    session = touchstone.InferenceSession(counting(1), runtime=runtime, deadline=0.5)
    error = refused(lambda: counted(session, 90_000_000))
    assert (error.kind, error.rule) == ("limit", "limit/deadline") and "Loop" in error.place
    assert counted(session, 3) == 3


def test_memory_is_that_of_a_session_with_its_runs() -> None:
    model = models.parsed("g (int64[1] n) => (float[m] y) { y = ConstantOfShape(n) }")
    for runtime in RUNTIMES:
        session = touchstone.InferenceSession(model, runtime=runtime, memory_limit=1 << 20)
        assert session.run(None, {"n": np.array([1000])})[0].shape == (1000,)
        error = refused(lambda session=session: session.run(None, {"n": np.array([1 << 20])}))
        assert (error.kind, error.rule) == ("limit", "limit/memory")
    weights = helper.make_tensor("w", TensorProto.FLOAT, [1 << 19], np.ones(1 << 19, np.float32))
    large = onnx.ModelProto.FromString(models.parsed("g (float[1] x) => (float[m] y) { y = Add(x, w) }"))
    large.graph.initializer.append(weights)
    error = refused(lambda: touchstone.InferenceSession(large.SerializeToString(), memory_limit=1 << 20))
    assert (error.kind, error.rule) == ("limit", "limit/memory")


@pytest.mark.parametrize(
    "setting", [{"deadline": 0}, {"deadline": -1.0}, {"deadline": float("nan")}, {"memory_limit": 0}]
)
def test_amounts_that_are_none_are_refused(setting: dict[str, Any]) -> None:
    assert refused(lambda: touchstone.InferenceSession(ADD, **setting)).kind == "usage"
