"""Sessions: their description of a model, their runs, and their refusals."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import touchstone
from onnx import TensorProto, helper

from tests.python import models
from tests.python.built import COMMAND, ONNXRUNTIME, PACKAGES, ROOT

RUNTIMES = ("fast", "reference")
ADD = models.parsed("g (float[n,4] a, float[n,4] b) => (float[n,4] sum) { sum = Add(a, b) }")


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def refused(work: Callable[[], Any]) -> touchstone.Error:
    with pytest.raises(touchstone.Error) as caught:
        work()
    return caught.value


@pytest.fixture
def network(tmp_path: Path) -> Path:
    path = tmp_path / "net.onnx"
    path.write_bytes(models.NETWORK)
    return path


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_outputs_are_those_of_the_command(runtime: str, network: Path, tmp_path: Path) -> None:
    x = drawn(2, 3, 16, 16)
    np.save(tmp_path / "x.npy", x)
    command = [
        COMMAND,
        "run",
        network,
        "--runtime",
        runtime,
        "--input",
        f"x={tmp_path}/x.npy",
        "--output-dir",
        tmp_path,
    ]
    command += ["--threads", "1"] if runtime == "fast" else []
    # A sanitized module needs its library preloaded; a sanitized command links its own.
    environment = {name: text for name, text in os.environ.items() if name != "LD_PRELOAD"}
    subprocess.run(list(map(str, command)), check=True, capture_output=True, timeout=300, env=environment)
    outputs = touchstone.InferenceSession(network, runtime=runtime, intra_op_num_threads=1).run(None, {"x": x})
    assert len(outputs) == 2
    for k, output in enumerate(outputs):
        expected = np.load(tmp_path / f"output_{k}.npy")
        assert output.dtype == expected.dtype and output.shape == expected.shape
        assert output.tobytes() == expected.tobytes()


def test_path_and_bytes_are_one_model(network: Path) -> None:
    x = drawn(1, 3, 16, 16)
    kinds = [network, str(network), models.NETWORK, bytearray(models.NETWORK), memoryview(models.NETWORK)]
    outputs = [touchstone.InferenceSession(kind).run(["y"], {"x": x})[0].tobytes() for kind in kinds]
    assert len(set(outputs)) == 1


def test_inputs_and_outputs_say_what_they_are() -> None:
    dims = [helper.make_tensor_value_info("a", TensorProto.FLOAT, ["n", 3, None])]
    dims += [helper.make_tensor_value_info("b", TensorProto.INT64, None)]
    dims += [helper.make_value_info("c", helper.make_sequence_type_proto(models.tensor(TensorProto.STRING)))]
    weight = helper.make_tensor_value_info("w", TensorProto.FLOAT16, [])
    nodes = [helper.make_node("Identity", [name], ["of_" + name]) for name in "abcw"]
    outputs = [helper.make_value_info("of_" + each.name, each.type) for each in [*dims, weight]]
    start = helper.make_tensor("w", TensorProto.FLOAT16, [], [1.5])
    graph = helper.make_graph(nodes, "g", [weight, *dims], outputs, [start])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()
    session = touchstone.InferenceSession(model)
    expected = [
        ("a", "tensor(float)", ["n", 3, None]),
        ("b", "tensor(int64)", None),
        ("c", "seq(tensor(string))", None),
    ]
    seen = [(each.name, each.type, each.shape) for each in session.get_inputs()]
    assert seen == expected
    (default,) = session.get_overridable_initializers()
    assert (default.name, default.type, default.shape) == ("w", "tensor(float16)", [])
    assert session.input_names == ["w", "a", "b", "c"]
    seen = [(each.name, each.type, each.shape) for each in session.get_outputs()]
    assert seen == [("of_" + name, kind, shape) for name, kind, shape in [*expected, ("w", default.type, [])]]
    assert session.get_providers() == ["CPUExecutionProvider"]
    feeds = {"a": drawn(1, 3, 2), "b": np.int64(4), "c": []}
    assert session.run(["of_w"], feeds)[0] == np.float16(1.5)
    assert session.run(["of_w"], feeds | {"w": np.float16(2)})[0] == np.float16(2)


def test_outputs_come_in_the_order_asked_for() -> None:
    session = touchstone.InferenceSession(models.NETWORK)
    x = drawn(1, 3, 16, 16)
    f, y = session.run(None, {"x": x})
    assert f.shape == (1, 8, 16, 16) and y.shape == (1, 8)
    assert [each.tobytes() for each in session.run(["y", "f", "y"], {"x": x})] == [each.tobytes() for each in (y, f, y)]
    assert session.run([], {"x": x})[1].tobytes() == y.tobytes()


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_feed_that_does_not_fit_is_refused_by_its_rule(runtime: str) -> None:
    session = touchstone.InferenceSession(ADD, runtime=runtime)
    fine = drawn(2, 4)

    def rule(feeds: dict[str, Any]) -> tuple[str, str]:
        error = refused(lambda: session.run(None, feeds))
        assert error.kind == "usage"
        return error.rule, error.place

    assert rule({"a": fine}) == ("feed/missing", "input 'b', main graph")
    assert rule({"a": fine, "b": fine, "c": fine}) == ("feed/name", "")
    assert rule({"a": fine, "b": fine.astype(np.float64)}) == ("feed/type", "input 'b', main graph")
    assert rule({"a": fine, "b": fine.astype("M8[s]")}) == ("feed/type", "input 'b', main graph")
    assert rule({"a": fine, "b": [fine]}) == ("feed/type", "input 'b', main graph")
    assert rule({"a": fine, "b": None}) == ("feed/type", "input 'b', main graph")
    assert rule({"a": fine, "b": np.zeros(2, [("f", "f4")])}) == ("feed/type", "input 'b', main graph")
    assert rule({"a": drawn(2, 5), "b": fine}) == ("feed/shape", "input 'a', main graph")
    assert rule({"a": drawn(2, 4, 1), "b": fine}) == ("feed/shape", "input 'a', main graph")
    assert rule({"a": fine, "b": drawn(3, 4)}) == ("feed/shape", "input 'b', main graph")
    assert session.run(None, {"a": fine, "b": fine})[0].tolist() == (fine + fine).tolist()


def test_plain_numbers_take_the_declared_type() -> None:
    session = touchstone.InferenceSession(ADD)
    (out,) = session.run(None, {"a": [[1, 2.5, 3, 4]], "b": ([1.0, 1, 1, 1],)})
    assert out.dtype == np.float32 and out.tolist() == [[2, 3.5, 4, 5]]
    scalar = touchstone.InferenceSession(models.parsed("g (int64 a) => (int64 b) { b = Neg(a) }"))
    assert scalar.run(None, {"a": 3})[0] == -3
    texts = touchstone.InferenceSession(models.handed_on(models.tensor(TensorProto.STRING), opset=21))
    assert texts.run(None, {"x": ["a", "b"]})[0].tolist() == ["a", "b"]
    for value in ([[1, 2], [3]], [["a", "b", "c", "d"]], [[1, None, 3, 4]], [[1j] * 4]):
        assert refused(lambda value=value: session.run(None, {"a": value, "b": drawn(1, 4)})).rule == "feed/type"
    assert refused(lambda: scalar.run(None, {"a": 1 << 70})).rule == "feed/type"


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_sizes_of_zero(runtime: str) -> None:
    session = touchstone.InferenceSession(ADD, runtime=runtime)
    (out,) = session.run(None, {"a": drawn(0, 4), "b": drawn(0, 4)})
    assert out.shape == (0, 4) and out.dtype == np.float32


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_large_feed_and_what_is_made_of_it_share_no_memory_after_a_run(runtime: str) -> None:
    graph = "g (float[n,4] a, float[n,4] b) => (float[n,4] sum, float[n,4] same) { sum = Add(a, b) same = Identity(a) }"
    session = touchstone.InferenceSession(models.parsed(graph), runtime=runtime)
    for seed in range(3):
        a, b = drawn(5000, 4, seed=seed), drawn(5000, 4, seed=9)
        kept = a.copy()
        added, same = session.run(None, {"a": a, "b": b})
        assert np.array_equal(a, kept)
        a[:] = b[:] = 7
        assert np.array_equal(added, kept + drawn(5000, 4, seed=9)) and np.array_equal(same, kept)


def test_an_error_says_all_that_it_knows() -> None:
    session = touchstone.InferenceSession(ADD)
    error = refused(lambda: session.run(None, {"a": drawn(2, 5), "b": drawn(2, 4)}))
    assert error.message == "'a' has shape [2,5], but is declared as [n,4]"
    assert error.rule_text and error.spec_line and error.help
    for said in (error.rule, error.message, error.place, error.rule_text, error.spec_line, error.help):
        assert said in str(error)
    assert isinstance(error, touchstone.Error) and type(error).__module__.split(".")[0] == "touchstone"


def test_what_a_node_refuses_names_the_node() -> None:
    pick = models.parsed("g (float[n] x, int64[m] i) => (float[m] y) { [pick] y = Gather(x, i) }")
    error = refused(lambda: touchstone.InferenceSession(pick).run(None, {"x": drawn(3), "i": np.int64([0, 7])}))
    assert error.kind == "invalid_input" and error.message == "index 7 is outside an extent of 3"
    assert error.place == "node 'pick' (Gather), output 'y', main graph"
    clip = models.parsed("g (float[n] x, float least) => (float[n] y) { [act] y = Clip(x, least) }", opset=13)
    loose = onnx.ModelProto.FromString(clip)
    loose.graph.input[1].type.tensor_type.ClearField("shape")
    session = touchstone.InferenceSession(loose.SerializeToString())
    error = refused(lambda: session.run(None, {"x": drawn(3), "least": drawn(2)}))
    assert error.rule == "Clip-13/C1" and error.spec_line.startswith("spec/ops/ai.onnx/Clip.yaml:")
    assert "node 'act'" in error.place


def test_unknown_outputs_and_options_are_refused() -> None:
    session = touchstone.InferenceSession(ADD)
    feeds = {"a": drawn(1, 4), "b": drawn(1, 4)}
    assert "no output 'z'; there are 'sum'" in refused(lambda: session.run(["z"], feeds)).message
    assert refused(lambda: session.run(None, feeds, object())).kind == "usage"


@pytest.mark.parametrize(
    "settings",
    [
        {"runtime": "slow"},
        {"intra_op_num_threads": -1},
        {"graph_optimization_level": "most"},
        {"limits": "none"},
        {"with_passes": ["no_such_pass"]},
        {"providers": ["CUDAExecutionProvider"]},
        {"provider_options": [{"device_id": 0}]},
    ],
)
def test_settings_that_are_not_there_are_refused(settings: dict[str, Any]) -> None:
    assert refused(lambda: touchstone.InferenceSession(ADD, **settings)).kind in ("usage", "unsupported")


def test_an_option_that_is_not_there_is_not_ignored() -> None:
    assert refused(lambda: touchstone.InferenceSession(ADD, inter_op_threads=1)).kind == "usage"
    with pytest.raises(AttributeError):
        touchstone.SessionOptions().inter_op_threads = 3


def test_providers_are_a_list_of_last_resorts() -> None:
    wanted = [("CUDAExecutionProvider", {"device_id": 0}), "CPUExecutionProvider"]
    with pytest.warns(UserWarning, match="CUDAExecutionProvider"):
        session = touchstone.InferenceSession(ADD, providers=wanted)
    assert session.get_providers() == ["CPUExecutionProvider"]


def test_settings_reach_the_session() -> None:
    options = touchstone.SessionOptions(intra_op_num_threads=1)
    options.graph_optimization_level = touchstone.GraphOptimizationLevel.ORT_DISABLE_ALL
    x = drawn(1, 3, 16, 16)
    plain = touchstone.InferenceSession(models.NETWORK, options)
    fused = touchstone.InferenceSession(models.NETWORK, options, graph_optimization_level="all")
    assert plain.placement() == []
    for session in (plain, fused):
        session.run(None, {"x": x})
    kernels = [[kernel for kernel, _ in session.placement()] for session in (plain, fused)]
    assert len(kernels[0]) > len(kernels[1]) > 0
    assert touchstone.InferenceSession(models.NETWORK, runtime="reference").placement() == []


def test_limits_for_what_comes_from_elsewhere() -> None:
    model = models.parsed("g () => (float[n] y) <int64[1] n = {2000000000}> { y = ConstantOfShape(n) }")
    error = refused(lambda: touchstone.InferenceSession(model, limits="untrusted").run(None, {}))
    assert error.kind == "limit" and "'elements'" in error.message


HOSTILE = {
    "nothing": (b"", "model/ir-version"),
    "noise": (bytes(range(256)) * 4, "model/parse"),
    "cut": (models.NETWORK[: len(models.NETWORK) // 2], "model/parse"),
    "cycle": (models.parsed("g (float[1] x) => (float[1] y) { y = Add(x, z) z = Neg(y) }"), "model/cycle"),
    "no such operator": (
        models.parsed("g (float[1] x) => (float[1] y) { y = Frobnicate(x) }"),
        "model/operator-unknown",
    ),
    "no such value": (models.parsed("g (float[1] x) => (float[1] y) { y = Neg(z) }"), "model/undefined-name"),
    "newer opset": (
        models.parsed("g (float[1] x) => (float[1] y) { y = Neg(x) }", opset=9999),
        "model/version-unknown",
    ),
}


@pytest.mark.parametrize("deed", HOSTILE)
def test_a_hostile_model_is_refused_by_its_rule(deed: str, tmp_path: Path) -> None:
    data, rule = HOSTILE[deed]
    path = tmp_path / "hostile.onnx"
    path.write_bytes(data)
    for model in (data, path):
        for limits in ("trusted", "untrusted"):
            error = refused(lambda model=model, limits=limits: touchstone.InferenceSession(model, limits=limits))
            assert error.rule == rule and error.message


def outside(location: str) -> bytes:
    """A model that stores its weights in an external file."""
    model = onnx.ModelProto.FromString(ADD)
    weight = model.graph.initializer.add(name="b", data_type=TensorProto.FLOAT, dims=[1, 4])
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value=location)
    return model.SerializeToString()


def test_files_beside_a_model_stay_beside_it(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(bytes(16))
    home = tmp_path / "home"
    home.mkdir()
    (home / "weights").write_bytes(np.float32([1, 2, 3, 4]).tobytes())
    path = home / "model.onnx"
    path.write_bytes(outside("weights"))
    assert touchstone.InferenceSession(path).run(None, {"a": np.zeros((1, 4), np.float32)})[0].tolist() == [
        [1, 2, 3, 4]
    ]
    for away in ("../secret", str(tmp_path / "secret"), "missing"):
        path.write_bytes(outside(away))
        assert refused(lambda: touchstone.InferenceSession(path)).kind == "file"
    assert "no folder" in refused(lambda: touchstone.InferenceSession(outside("weights"))).message


def test_names_that_a_hostile_model_chose_are_fit_for_a_terminal() -> None:
    model = onnx.ModelProto.FromString(ADD)
    model.graph.node[0].input[0] = "\x1b[2Jgone"
    said = str(refused(lambda: touchstone.InferenceSession(model.SerializeToString())))
    assert "\x1b" not in said and "\\x1b[2Jgone" in said


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_many_threads_share_sessions(runtime: str) -> None:
    """Two sessions run different shapes concurrently: each run returns its own outputs."""
    sessions = [touchstone.InferenceSession(models.NETWORK, runtime=runtime, intra_op_num_threads=n) for n in (1, 2)]
    feeds = [{"x": drawn(1 + k % 3, 3, 16, 16, seed=k)} for k in range(8)]
    expected = [[session.run(None, feed)[0].tobytes() for feed in feeds] for session in sessions]

    def work(k: int) -> bool:
        return sessions[k % 2].run(None, feeds[k // 2])[0].tobytes() == expected[k % 2][k // 2]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, [k % 16 for k in range(64)]))


def test_the_interpreters_lock_is_free_during_a_run() -> None:
    """Python threads switch only where one releases the GIL; in this test only the run itself does."""
    steps = "steps (int64 i, bool on, int64 u) => (bool go_on, int64 v) { go_on = Identity(on) v = Add(u, i) }"
    loop = f"{{ go = Constant <value = bool {{1}}> () t = Loop <body = {steps}> (n, go, s) }}"
    model = models.parsed(f"g (int64 n, int64 s) => (int64 t) {loop}")
    session = touchstone.InferenceSession(model)
    feeds = [("n", touchstone.values.feed("n", np.int64(20000), session._inputs["n"].type))]
    feeds += [("s", touchstone.values.feed("s", np.int64(0), session._inputs["s"].type))]
    turns, moved = 0, False
    done = threading.Event()

    def work() -> None:
        nonlocal moved
        for _ in range(20):
            before = turns
            session._runner.run(feeds, ["t"])
            moved = moved or turns > before
            if moved:
                break
        done.set()

    kept = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # seconds
    try:
        thread = threading.Thread(target=work)
        thread.start()
        while not done.is_set():
            turns += 1
            time.sleep(0)  # releases the GIL
        thread.join()
    finally:
        sys.setswitchinterval(kept)
    assert moved


def test_the_module_shows_nothing_but_its_door() -> None:
    """The module exports only its entry point, so that its libraries cannot clash with another module's copies."""
    (module,) = PACKAGES.glob("touchstone/_native*.so")
    listed = subprocess.run(["nm", "-D", "--defined-only", module], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1] for line in listed.splitlines()}
    assert names == {"PyInit__native"}


@pytest.mark.parametrize("order", ["touchstone, onnxruntime", "onnxruntime, touchstone"])
def test_one_process_holds_other_runtimes_too(order: str, network: Path) -> None:
    text = f"import onnx, {order}, numpy as np, sys\n"
    text += "x = np.ones((1, 3, 16, 16), np.float32)\n"
    text += "onnx.checker.check_model(onnx.load(sys.argv[1]))\n"
    text += "def shapes(runtime):\n"
    text += "  session = runtime.InferenceSession(sys.argv[1], providers=['CPUExecutionProvider'])\n"
    text += "  return [y.shape for y in session.run(None, {'x': x})]\n"
    text += "assert shapes(touchstone) == shapes(onnxruntime) != []\n"
    model = onnx.ModelProto.FromString(models.NETWORK)
    model.ir_version, model.opset_import[0].version = 10, 21
    network.write_bytes(model.SerializeToString())
    environment = os.environ | {"PYTHONPATH": str(PACKAGES)}
    done = subprocess.run(
        [str(ONNXRUNTIME), "-c", text, str(network)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=ROOT,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
