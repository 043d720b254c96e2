"""Repeats the computations that proofs of errata refer to, on the cases of the releases.

test_testimony.py checks the answers of runtimes. Formulas here are mathematics or numpy's, never taken from an entry.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, checker, defs, parser, version_converter
from onnx.reference import ReferenceEvaluator

from tests.questions.cases import NOTES, Case, distinct, named_by

BY_ID = {note.id: note for note in NOTES}
pytestmark = pytest.mark.skipif(not distinct(), reason="the suite of all releases is in no cache")


def cases_of(id_: str) -> dict[str, Case]:
    found = {case.name: case for case in named_by(BY_ID[id_])}
    assert found
    return found


def held(release: str, name: str) -> Case:
    """A release's copy of a case."""
    return next(case for case in distinct() if (release, name) in case.held)


def attributes(case: Case) -> dict[str, Any]:
    return {each.name: onnx.helper.get_attribute_value(each) for each in case.model.graph.node[0].attribute}


def tensors(case: Case, side: str) -> list[TensorProto]:
    return [TensorProto.FromString(data) for data in case.files(side)]


def as_floats(given: np.ndarray, right: np.ndarray, roundings: int) -> bool:
    """True if `given` equals `right` up to `roundings` float32 roundings, each half an ulp of the largest element."""
    return bool((np.abs(given - right) <= roundings * 2.0**-24 * np.abs(right).max()).all())


def test_e002_files_hold_another_type_than_the_model_declares() -> None:
    for case in named_by(BY_ID["E002"]):
        graph = case.model.graph
        pairs = [
            *zip(graph.input, tensors(case, "input"), strict=True),
            *zip(graph.output, tensors(case, "output"), strict=True),
        ]
        types = {(info.type.tensor_type.elem_type, tensor.data_type) for info, tensor in pairs}
        assert (TensorProto.BFLOAT16, TensorProto.UINT16) in types, case
    held_now = held("1.19.1", "test_cast_BFLOAT16_to_FLOAT")
    assert tensors(held_now, "input")[0].data_type == TensorProto.BFLOAT16


def test_e003_the_expectation_is_farther_from_the_answer_than_ours() -> None:
    case = held("1.23.2", "test_attention_4d_causal_fp16_expanded")
    q, k, v = (each.astype(np.float64) for each in case.arrays("input")[:3])
    scores = np.tril(np.exp(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])))
    y = (scores / scores.sum(-1, keepdims=True) @ v)[0, 0, 2, 4]
    expected = float(case.arrays("output")[0][0, 0, 2, 4])
    assert f"{y:.6f}" == "0.398295"
    assert abs(float(np.float16(0.398438)) - y) < abs(expected - y)


def test_e003_one_rounding_of_a_sum_is_coarser_than_the_tolerance() -> None:
    for name, axis in (("test_dft", 1), ("test_dft_axis", 2)):
        x = held("1.23.2", name).arrays("input")[0]
        assert np.abs(x).sum(axis=axis).max() * 2.0**-24 > 300 * 1e-7


def test_e004_no_order_of_heads_and_keys_shows() -> None:
    for case in cases_of("E004").values():
        (expected, *_), given = case.arrays("output"), case.arrays("input")
        assert np.unique(expected).size == np.unique(given[2]).size == 1
        names = [info.name for info in case.model.graph.input]
        mixed = [given[0][..., ::-1].copy(), given[1][..., ::-1].copy(), *given[2:]]
        for feeds in (given, mixed):
            answer, *_ = ReferenceEvaluator(case.model).run(None, dict(zip(names, feeds, strict=True)))
            assert np.array_equal(answer, expected)


def test_e016_a_tensor_of_twelve_holds_three() -> None:
    for name, side in (("test_cast_FLOAT_to_STRING", "output"), ("test_cast_STRING_to_FLOAT", "input")):
        (tensor,) = tensors(cases_of("E016")[name], side)
        assert list(tensor.dims) == [3, 4]
        assert [len(text) for text in tensor.string_data] == [32, 32, 32]
        with pytest.raises(checker.ValidationError, match="too small"):
            checker.check_tensor(tensor)
        (later,) = tensors(held("1.5.0", name), side)
        assert len(later.string_data) == 12


def test_e017_two_blocks_meet_at_the_edge() -> None:
    case = cases_of("E017")["test_col2im_pads"]
    blocks, expected = case.arrays("input")[0], case.arrays("output")[0]
    right = np.zeros((5, 7))
    for block in range(15):
        row, column = divmod(block, 3)
        right[row, column : column + 5] += blocks[0, :, block]
    differs = np.argwhere(right[:, 1:6] != expected[0, 0])
    assert differs.tolist() == [[0, 4]]
    assert (right[0, 5], expected[0, 0, 0, 4]) == (24, 14)


def test_e023_no_opset_holds_them() -> None:
    for case in named_by(BY_ID["E023"]):
        model = case.model
        opset = next(each.version for each in model.opset_import if each.domain == "")
        assert not all(defs.has(node.op_type, opset, "") for node in model.graph.node), case


def test_e025_an_add_of_opset_6_needs_an_attribute_to_broadcast() -> None:
    for case in named_by(BY_ID["E025"]):
        assert case.model.opset_import[0].version == 1
        assert not any(node.attribute for node in case.model.graph.node if node.op_type == "Add")
    text = '<ir_version: 3, opset_import: ["": 7]> g (float[3] x, float s) => (float[3] y) { y = Add(x, s) }'
    (node,) = version_converter.convert_version(parser.parse_model(text), 6).graph.node
    assert [(each.name, each.i) for each in node.attribute] == [("broadcast", 1)]
    assert held("1.14.1", "test_softplus_expanded_ver18").model.opset_import[0].version == 18


def test_e026_the_file_is_a_list_and_the_model_wants_a_matrix() -> None:
    (case,) = named_by(BY_ID["E026"])
    assert len(case.model.graph.input[0].type.tensor_type.shape.dim) == 2
    assert list(tensors(case, "input")[0].dims) == [5]
    assert len(held("1.5.0", "test_shrink").model.graph.input[0].type.tensor_type.shape.dim) == 1


def test_e027_a_mean_has_four_decimals() -> None:
    case = cases_of("E027")["test_averagepool_2d_ceil_last_window_starts_on_pad"]
    means = case.arrays("input")[0].astype(np.float64).sum(axis=(2, 3)) / 9
    expected = case.arrays("output")[0].astype(np.float64)[..., 0, 0]
    assert np.array_equal(expected, np.round(expected, 4).astype(np.float32))
    assert (np.abs(means - expected) > 2e-5).all()
    assert np.abs(means - expected).max() < 6e-5


def test_e030_the_right_numbers_miss_the_tolerance() -> None:
    for case in named_by(BY_ID["E030"]):
        x, expected = case.arrays("input")[0].astype(np.float64), case.arrays("output")[0]
        inverse = np.fft.ifft(x[..., 0] + 1j * x[..., 1], axis=1)
        right = np.stack([inverse.real, inverse.imag], -1).astype(np.float32)
        missed = case.misses(right, expected)
        assert (missed.sum(), missed.size) == (10, 200)
        assert np.abs(right - expected)[missed].max() < 2e-7


Formula = Callable[[np.ndarray], np.ndarray]
WINDOWS: dict[str, Formula] = {  # of the angle
    "blackmanwindow": lambda a: 0.42 - 0.5 * np.cos(a) + 0.08 * np.cos(2 * a),
    "hammingwindow": lambda a: 25 / 46 - 21 / 46 * np.cos(a),
    "hannwindow": lambda a: 0.5 - 0.5 * np.cos(a),
}


@pytest.mark.parametrize("symmetric", ["", "_symmetric"])
@pytest.mark.parametrize("window", WINDOWS)
def test_e034_windows_are_those_of_a_short_pi(window: str, symmetric: str) -> None:
    case = cases_of("E034")[f"test_{window}{symmetric}"]
    size, expected = int(case.arrays("input")[0]), case.arrays("output")[0]
    turns = np.arange(size) / (size - bool(symmetric))
    off = [np.abs(WINDOWS[window](2 * pi * turns) - expected).max() for pi in (3.1415, np.pi)]
    assert off[0] < 2e-7 < 6e-5 < off[1]


def test_e035_rate_and_count_stand_in_each_others_place() -> None:
    case = cases_of("E035")["test_momentum"]
    given = {name.decode() if isinstance(name, bytes) else name: value for name, value in attributes(case).items()}
    rate, count, x, gradient, momentum = (np.asarray(each, np.float64) for each in case.arrays("input"))
    new_x, new_momentum = case.arrays("output")
    gradient = gradient + given["norm_coefficient"] * x
    assert (count, rate) == (0, np.float32(0.1))
    assert as_floats(new_momentum, given["alpha"] * momentum + given["beta"] * gradient, 4)
    assert np.array_equal(new_x, x.astype(np.float32))
    later_x, later_momentum = held("1.8.1", "test_momentum").arrays("output")
    assert as_floats(later_momentum, given["alpha"] * momentum + gradient, 4)
    assert as_floats(later_x, x - rate * later_momentum, 2)


def test_e036_an_epsilon_that_is_not_there() -> None:
    case = cases_of("E036")["test_adam_multiple"]
    rate, expected, v, h = 0.1, *(float(case.arrays("output")[k][0]) for k in (0, 2, 4))
    assert "epsilon" not in attributes(case)
    default = defs.get_schema("Adam", 1, "ai.onnx.preview.training").attributes["epsilon"].default_value.f
    assert default == np.float32(1e-6)
    assert f"{1 - rate * v / (math.sqrt(h) + 1e-2):.6f}" == f"{expected:.6f}"
    assert f"{1 - rate * v / (math.sqrt(h) + default):.6f}" == "0.755959"
    assert attributes(held("1.22.0", "test_adam_multiple"))["epsilon"] == np.float32(0.01)


def test_e037_y_is_not_x_at_its_own_indices() -> None:
    (case,) = named_by(BY_ID["E037"])
    (x,), (y, indices, inverse, _) = case.arrays("input"), case.arrays("output")
    assert x[indices].tolist() == [2, 1, 3, 4] != y.tolist()
    assert y[inverse].tolist() != x.tolist()


def test_q012_the_suites_disagree() -> None:
    for name in cases_of("Q012"):
        before, after = (held(each, name).arrays("output")[0].ravel().astype(float) for each in ("1.18.0", "1.19.1"))
        nan = np.isnan(held("1.18.0", name).arrays("input")[0].ravel().astype(float))
        assert nan.any()
        assert (before[nan] == 6).all()
        assert (after[nan] == 0).all() and np.signbit(after[nan]).all()


def test_q048_masks_are_drawn_by_one_library() -> None:
    for case in named_by(BY_ID["Q048"]):
        if "dropout" in case.name:
            (data, *rest), expected = case.arrays("input"), case.arrays("output")
            ratio = float(rest[0]) if rest else 0.5
            drawn = np.random.RandomState(attributes(case)["seed"]).uniform(0, 1, data.shape) >= ratio
            assert as_floats(expected[0], drawn * data.astype(np.float64) / (1 - ratio), 2)
            assert len(expected) == 1 or np.array_equal(expected[1], drawn)


def test_q102_neighbours_of_one_do_not_weigh_the_same() -> None:
    (probe,) = (each for each in BY_ID["Q102"].probes if each.name == "scores")
    assert probe.says["reference"]["Y"]["data"] == [float(np.float16(1 / (1 + math.e)))]
