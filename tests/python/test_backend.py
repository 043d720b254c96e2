"""touchstone.backend, the onnx package's backend interface: its official runner agrees with `touchstone conform`."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
import touchstone
from onnx import TensorProto, helper
from touchstone import backend

from tests.python import models, official

PART, PARTS = 0, 8  # the part of the suite; `make full` runs all of it
# Right outputs that the suite's own rule refuses, on both runtimes: errata E003, E029 and E030.
REFUSED = {
    "test_attention_4d_causal_fp16_expanded",
    "test_dft_inverse",
    "test_dft_inverse_opset19",
    "test_roialign_mode_max",
}
# Random outputs, from another generator than the suite's; they may agree by chance: question Q048.
DRAWN = {f"test_bernoulli{kind}{body}" for kind in ("", "_double", "_seed") for body in ("", "_expanded")}
DRAWN |= {f"test_training_dropout{kind}{mask}" for kind in ("", "_default") for mask in ("", "_mask")}


@pytest.mark.parametrize("runtime", official.RUNTIMES)
def test_a_part_of_the_suite_by_the_official_runner(runtime: str) -> None:
    left_out = official.real_models(runtime) if runtime == "reference" else set()  # takes minutes there

    def wanted(name: str) -> bool:
        return name not in left_out and (official.in_share(name, PART, PARTS) or name in REFUSED | DRAWN)

    said = official.ran(runtime, wanted)
    assert len(said) > 200
    assert said.keys() >= REFUSED | DRAWN
    failed = {name: why for name, why in said.items() if why and name not in DRAWN}
    assert failed.keys() == REFUSED, failed


def test_a_model_and_its_inputs_in_each_shape() -> None:
    model = onnx.ModelProto.FromString(models.parsed("g (float[2] a, float[2] b) => (float[2] d) { d = Sub(a, b) }"))
    a, b = np.float32([5, 7]), np.float32([1, 2])
    prepared = backend.prepare(model)
    assert isinstance(prepared, onnx.backend.base.BackendRep)
    for given in ([a, b], (a, b), {"b": b, "a": a}):
        (out,) = prepared.run(given)
        assert out.tolist() == [4, 5]
    (out,) = backend.run_model(model, [a, b], runtime="reference")
    assert out.tolist() == [4, 5]
    with pytest.raises(touchstone.Error):
        prepared.run([a])
    with pytest.raises(touchstone.Error):
        prepared.run([a, b, a])


def test_inputs_with_a_default_may_be_left_out() -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    w = helper.make_tensor_value_info("w", TensorProto.FLOAT, [2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    start = helper.make_tensor("w", TensorProto.FLOAT, [2], [10, 20])
    graph = helper.make_graph([helper.make_node("Add", ["w", "x"], ["y"])], "g", [w, x], [y], [start])
    prepared = backend.prepare(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8))
    one = np.float32([1, 1])
    assert prepared.run([one])[0].tolist() == [11, 21]
    assert prepared.run([np.float32([5, 5]), one])[0].tolist() == [6, 6]


def test_one_node() -> None:
    x = np.float32([3, 1, 2])
    (out,) = backend.run_node(helper.make_node("Neg", ["x"], ["y"]), [x])
    assert out.tolist() == [-3, -1, -2]
    best = helper.make_node("TopK", ["x", "k"], ["v", "i"], largest=0)
    values, indices = backend.run_node(best, [x, np.int64([2])], opset_version=11)
    assert values.tolist() == [1, 2] and indices.tolist() == [1, 2]
    clip = helper.make_node("Clip", ["x", "", "max"], ["y"])
    assert backend.run_node(clip, [x, np.float32(2)])[0].tolist() == [2, 1, 2]
    at = helper.make_node("SequenceAt", ["s", "i"], ["y"])
    assert backend.run_node(at, [[x, x[:1]], np.int64(1)])[0].tolist() == [3]
    chosen = helper.make_node("Binarizer", ["x"], ["y"], domain="ai.onnx.ml", threshold=1.5)
    assert backend.run_node(chosen, [x])[0].tolist() == [1, 0, 1]
    with pytest.raises(touchstone.Error):
        backend.run_node(helper.make_node("Neg", ["x"], ["y"], domain="nobody"), [x])


def test_devices() -> None:
    assert backend.supports_device("CPU") and backend.supports_device("CPU:0")
    assert not backend.supports_device("CUDA")
    model = onnx.ModelProto.FromString(models.NETWORK)
    assert backend.is_compatible(model) and not backend.is_compatible(model, "CUDA")
    with pytest.raises(touchstone.Error) as caught:
        backend.prepare(model, "CUDA")
    assert caught.value.kind == "unsupported"
