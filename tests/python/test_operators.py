"""Operators by functions in Python, messages in Python's logging, and runs of one session at once."""

from __future__ import annotations

import gc
import logging
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import touchstone
from onnx import parser
from touchstone import Parameter, SessionOptions

FLOAT, DOUBLE = "tensor(float)", "tensor(double)"


def mine(graph: str, version: int = 1) -> bytes:
    imports = f'["" : 21, "my.ops" : {version}]'
    return parser.parse_model(f"<ir_version: 10, opset_import: {imports}> {graph}").SerializeToString()


SCALED = mine("g (float[n,2] x) => (float[n,2] y) { a = Neg(x) b = my.ops.Scale <factor = 3.0> (a) y = Add(b, x) }")
X = np.array([[1, 2], [3, -4]], np.float32)


def scale(x: np.ndarray, factor: float = 1.0) -> np.ndarray:
    return x * np.float32(factor)


def options(function: Callable[..., Any] = scale, **more: Any) -> SessionOptions:
    made = SessionOptions(**{name: more.pop(name) for name in list(more) if name in SessionOptions.settings()})
    given = {"inputs": [FLOAT], "outputs": [FLOAT]} | more
    made.add_operator("my.ops", given.pop("name", "Scale"), function, **given)
    return made


def refused(work: Callable[[], object]) -> touchstone.Error:
    with pytest.raises(touchstone.Error) as caught:
        work()
    return caught.value


@pytest.mark.parametrize("runtime", ["fast", "reference"])
def test_a_function_computes_nodes(runtime: str) -> None:
    session = touchstone.InferenceSession(SCALED, options(runtime=runtime))
    for rows in (2, 1, 0):
        (y,) = session.run(None, {"x": X[:rows]})
        assert np.array_equal(y, X[:rows] * -2)
        assert y.dtype == np.float32


def test_without_it_the_operator_is_unknown() -> None:
    error = refused(lambda: touchstone.InferenceSession(SCALED))
    assert error.kind == "unsupported"
    assert "Scale" in error.message


def test_attributes_optional_inputs_and_several_outputs() -> None:
    def both(x: Any, none: Any, *rest: Any, **attributes: Any) -> tuple[Any, Any]:
        assert none is None
        assert len(rest) == 2
        assert attributes["names"] == ["a", "b"]
        assert attributes["list"] == [1, 2]
        assert attributes["table"].tolist() == [5, 6]
        return x + attributes["by"], np.array([len(attributes["word"])], np.int64)

    graph = """g (double[2] x) => (double[2] y, int64[1] n) {
        y, n = my.ops.Both
            <by = 2, word = "abc", names = ["a", "b"], list = [1, 2], table = int64[2] {5, 6}> (x, , x, x)
    }"""
    kinds = Parameter("x", (FLOAT, DOUBLE), same="T")
    inputs = [kinds, Parameter("maybe", (FLOAT,), optional=True), Parameter("rest", (FLOAT, DOUBLE), variadic=True)]
    outputs = [Parameter("y", (FLOAT, DOUBLE), same="T"), "tensor(int64)"]
    session = touchstone.InferenceSession(mine(graph), options(both, name="Both", inputs=inputs, outputs=outputs))
    y, n = session.run(None, {"x": np.array([1.0, 2.0])})
    assert (y.tolist(), n.tolist()) == ([3, 4], [3])


def test_values_of_other_types_are_refused_by_name() -> None:
    doubles = mine("g (double[n] x) => (double[n] y) { [mine] y = my.ops.Scale(x) }")
    error = refused(lambda: touchstone.InferenceSession(doubles, options()))
    assert (error.rule, error.kind) == ("model/type", "invalid_model")
    assert "'mine'" in error.place
    session = touchstone.InferenceSession(SCALED, options(lambda x, factor: x.astype(np.float64)))
    error = refused(lambda: session.run(None, {"x": X}))
    assert "float64" in error.message or DOUBLE in error.message
    assert "Scale" in error.place
    session = touchstone.InferenceSession(SCALED, options(lambda x, factor: None))
    assert "output 0" in refused(lambda: session.run(None, {"x": X})).message


def test_exceptions_of_a_function_end_the_run() -> None:
    def fails(x: Any, factor: float) -> Any:
        raise ValueError("not today")

    def says(x: Any, factor: float) -> Any:
        raise touchstone.Error("limit", "enough")

    session = touchstone.InferenceSession(SCALED, options(fails))
    error = refused(lambda: session.run(None, {"x": X}))
    assert (error.kind, error.message) == ("invalid_input", "ValueError: not today")
    assert "Scale" in error.place
    session = touchstone.InferenceSession(SCALED, options(says))
    error = refused(lambda: session.run(None, {"x": X}))
    assert (error.kind, error.message) == ("limit", "enough")


def test_inference_by_a_function() -> None:
    seen = []

    def infer(inputs: Any, attributes: Any) -> Any:
        seen.append((inputs, attributes))
        return [inputs[0]]

    session = touchstone.InferenceSession(SCALED, options(infer=infer))
    assert np.array_equal(session.run(None, {"x": X})[0], X * -2)
    assert any(inputs == [(FLOAT, (2, 2))] and attributes == {"factor": 3.0} for inputs, attributes in seen)


@pytest.mark.parametrize(
    "wrong",
    [
        {"function": 3},
        {"name": ""},
        {"inputs": FLOAT},
        {"inputs": ["tensor(flot)"]},
        {"inputs": [3]},
        {"outputs": []},
        {"version": 0},
    ],
)
def test_operators_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    assert refused(lambda: options(**({"function": scale} | wrong))).kind == "usage"
    twice = options()
    assert refused(lambda: twice.add_operator("my.ops", "Scale", scale, inputs=[], outputs=[FLOAT])).kind == "usage"
    assert refused(lambda: twice.add_operator("ai.onnx", "Scale", scale, inputs=[], outputs=[FLOAT])).kind == "usage"


def test_a_function_lives_as_long_as_its_sessions() -> None:
    class Function:
        def __call__(self, x: np.ndarray, factor: float) -> np.ndarray:
            return scale(x, factor)

    function = Function()
    gone = weakref.ref(function)
    given = options(function)
    session = touchstone.InferenceSession(SCALED, given)
    del function, given
    gc.collect()
    assert np.array_equal(session.run(None, {"x": X})[0], X * -2)
    del session
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("runtime", ["fast", "reference"])
def test_runs_of_one_session_overlap(runtime: str) -> None:
    """Each run waits in its node until all have come there."""
    together = threading.Barrier(4, timeout=60)

    def meet(x: np.ndarray, factor: float) -> np.ndarray:
        together.wait()
        return scale(x, factor)

    session = touchstone.InferenceSession(SCALED, options(meet, runtime=runtime, concurrent_runs=4))
    right = []

    def work(t: int) -> None:
        x = np.full((1 + t % 2, 2), t, np.float32)
        for _ in range(3):
            right.append(np.array_equal(session.run(None, {"x": x})[0], x * -2))

    threads = [threading.Thread(target=work, args=(t,)) for t in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 12


@pytest.fixture
def usual_severity() -> Iterator[None]:
    yield
    touchstone.set_default_logger_severity(2)


@pytest.mark.usefixtures("usual_severity")
def test_messages_are_records_of_logging(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "touchstone")

    def run() -> list[tuple[str, int, str]]:
        caplog.clear()
        session = touchstone.InferenceSession(SCALED, options(inter_op_num_threads=3))
        session.run(None, {"x": X})
        return caplog.record_tuples

    assert run() == []
    touchstone.set_default_logger_severity(1)
    said = run()
    assert [(name, level) for name, level, _ in said] == [
        ("touchstone.options", logging.INFO),
        ("touchstone.session", logging.INFO),
    ]
    assert "inter_op_num_threads" in said[0][2]
    assert "Scale" in said[1][2] and "reference" in said[1][2]
    for wrong in (-1, 5, True, "info"):
        assert refused(lambda value=wrong: touchstone.set_default_logger_severity(value)).kind == "usage"
