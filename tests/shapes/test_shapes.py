"""Inferred shapes against onnx's own inference, and size expressions against actual sizes, on cases of the onnx
package.
"""

from __future__ import annotations

import os
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from onnx.backend.test.loader import load_model_tests

from tests.shapes.compare import compare, compare_sizes

ROOT = Path(__file__).resolve().parents[2]
COMMAND = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build")) / "touchstone"
LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"

# Cases that the onnx package has as files: PyTorch layers, small graphs, nine architectures without weights.
FILES = {
    case.name: Path(case.model_dir) / "model.onnx"
    for kind in ("simple", "pytorch-converted", "pytorch-operator")
    for case in load_model_tests(kind=kind)
}
NAMES = [
    *(
        "test_AvgPool2d_stride",
        "test_BatchNorm2d_eval",
        "test_Conv1d_dilated",
        "test_Conv2d_groups_thnn",
        "test_Conv2d_padding",
    ),
    *(
        "test_Conv3d_stride_padding",
        "test_Linear",
        "test_MaxPool2d_stride_padding_dilation",
        "test_ReLU",
        "test_Softmax",
    ),
    *(
        "test_PixelShuffle",
        "test_operator_add_broadcast",
        "test_operator_addmm",
        "test_operator_concat2",
        "test_operator_flatten",
    ),
    *("test_operator_permute2", "test_operator_reduced_mean_keepdim", "test_operator_view"),
]
LIGHTS = ["light_squeezenet", "light_shufflenet", "light_inception_v1"]


@pytest.mark.parametrize("name", [*NAMES, *LIGHTS])
def test_nothing_differs_from_onnx(name: str, tmp_path: Path) -> None:
    file = FILES[name] if name in FILES else LIGHT / f"{name}.onnx"
    counts, lines = compare(COMMAND, onnx.load(file), tmp_path)
    assert counts["agree"] > 0, lines
    assert not {"differ", "less", "less (rank)", "refused"} & set(counts), lines


@pytest.mark.parametrize("name", NAMES)
def test_forms_hold_at_the_sizes_of_the_case(name: str, tmp_path: Path) -> None:
    counts, lines = compare_sizes(COMMAND, onnx.load(FILES[name]), tmp_path)
    assert not {"wrong", "refused"} & set(counts), lines


def flattened() -> onnx.ModelProto:
    """[batch, time, 64] -> [batch, time, 4, 16] -> [batch, 4, time, 16] -> [batch * time, 64]"""
    ints = {"heads": [0, 0, 4, 16], "rows": [-1, 64]}
    nodes = [
        helper.make_node("Reshape", ["x", "heads"], ["split"]),
        helper.make_node("Transpose", ["split"], ["turned"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["turned", "rows"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "time", 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [helper.make_tensor(name, TensorProto.INT64, [len(each)], each) for name, each in ints.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def test_a_product_of_symbols_is_known_here_alone(tmp_path: Path) -> None:
    counts, lines = compare(COMMAND, flattened(), tmp_path)
    assert counts["agree"] >= 8 and counts["more"] == 1, lines
    assert any("batch*time" in line for line in lines), lines
