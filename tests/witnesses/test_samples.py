"""Operators that interpolate or pool between pixels, against the evaluator and ONNX Runtime, where each follows the
text.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.witnesses.asking import Asked, agree, departs, pairs, seeded

PADDINGS = ["zeros", "border", "reflection"]
ROIS = np.array(
    [[0.3, 0.4, 7.1, 6.2], [-3.2, 1.5, 2.2, 11.4], [4.1, 4.2, 4.3, 4.9], [20.5, 20.5, 30.5, 30.5]], np.float32
)


def grid_sample(mode: str, padding: str, aligned: int, extents: tuple[int, ...], opset: int = 20) -> Asked:
    r = len(extents)
    grid = seeded(2, *[4] * r, r, seed=len(mode) + aligned, low=-1.7, high=1.7)
    inputs = {"X": seeded(2, 3, *extents, seed=7), "grid": grid}
    return Asked("GridSample", opset, inputs, mode=mode, padding_mode=padding, align_corners=aligned)


@pytest.mark.parametrize("extents", [(5, 6), (3, 4, 5), (7,)])
@pytest.mark.parametrize("aligned", [0, 1])
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_grid_sample_of_the_evaluator(mode: str, padding: str, aligned: int, extents: tuple[int, ...]) -> None:
    asked = grid_sample(mode, padding, aligned, extents)
    agree(asked, asked.evaluator())


@pytest.mark.parametrize("aligned", [0, 1])
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize(("mode", "opset"), [("nearest", 16), ("bilinear", 16), ("bicubic", 16), ("linear", 20)])
def test_grid_sample_of_onnxruntime(mode: str, opset: int, padding: str, aligned: int) -> None:
    asked = grid_sample(mode, padding, aligned, (5, 6), opset)
    if mode == "bicubic" and padding == "border":  # it extends the curve past the border differently (Q094)
        departs(asked, asked.onnxruntime())
    else:
        agree(asked, asked.onnxruntime())


def roi_align(opset: int, **attributes: Any) -> Asked:
    inputs = {"X": seeded(2, 3, 8, 9, seed=1), "rois": ROIS, "batch": np.array([0, 1, 1, 0], np.int64)}
    return Asked("RoiAlign", opset, inputs, output_height=3, output_width=2, **attributes)


@pytest.mark.parametrize(("ratio", "scale"), [(0, 1.0), (2, 1.0), (3, 0.5), (0, 2.0)])
@pytest.mark.parametrize("pixels", ["half_pixel", "output_half_pixel"])
def test_roi_align(pixels: str, ratio: int, scale: float) -> None:
    asked = roi_align(16, sampling_ratio=ratio, spatial_scale=scale, coordinate_transformation_mode=pixels)
    agree(asked, asked.evaluator(), asked.onnxruntime())


@pytest.mark.parametrize("ratio", [0, 2])
def test_roi_align_in_older_pixels(ratio: int) -> None:
    asked = roi_align(10, sampling_ratio=ratio)
    agree(asked, asked.onnxruntime())


def test_max_roi_pool() -> None:
    regions = np.concatenate([np.array([[0], [1], [0], [1]], np.float32), ROIS], axis=1)
    inputs = {"X": seeded(2, 3, 8, 9, seed=3), "rois": regions}
    asked = Asked("MaxRoiPool", 1, inputs, pooled_shape=[3, 2], spatial_scale=0.75)
    agree(asked, asked.onnxruntime())


CONVOLUTIONS = list(
    pairs([1, 2], [1, 2, 4], [[1, 1], [2, 1]], [[0, 0, 0, 0], [1, 0, 2, 1]], [[1, 1], [1, 2]], [True, False])
)


@pytest.mark.parametrize(("group", "groups", "strides", "pads", "dilations", "extras"), CONVOLUTIONS)
def test_deform_conv(
    group: int, groups: int, strides: list[int], pads: list[int], dilations: list[int], extras: bool
) -> None:
    image, kernel = (5, 6), (2, 3)
    out = [(image[d] + pads[d] + pads[d + 2] - dilations[d] * (kernel[d] - 1) - 1) // strides[d] + 1 for d in range(2)]
    inputs = {
        "X": seeded(2, 4, *image, seed=1),
        "W": seeded(2, 4 // group, *kernel, seed=2),
        "offset": seeded(2, groups * 12, *out, seed=3, low=-2.5, high=2.5),
        "B": seeded(2, seed=4) if extras else None,
        "mask": seeded(2, groups * 6, *out, seed=5) if extras else None,
    }
    asked = Asked(
        "DeformConv", 19, inputs, group=group, offset_group=groups, strides=strides, pads=pads, dilations=dilations
    )
    agree(asked, asked.evaluator(), asked.onnxruntime())


@pytest.mark.parametrize("aligned", [0, 1])
@pytest.mark.parametrize("extents", [(4, 7), (2, 3, 5)])
def test_affine_grid(extents: tuple[int, ...], aligned: int) -> None:
    r = len(extents)
    inputs = {"theta": seeded(2, r, r + 1, seed=8), "size": np.array([2, 3, *extents], np.int64)}
    asked = Asked("AffineGrid", 20, inputs, align_corners=aligned)
    agree(asked, asked.evaluator())


def determinant(matrix: np.ndarray) -> Fraction:
    """Gaussian elimination in exact fractions."""
    rows, product = [[Fraction(float(each)) for each in row] for row in matrix], Fraction(1)
    while rows:
        pivot = next((k for k, row in enumerate(rows) if row[0]), None)
        if pivot is None:
            return Fraction(0)
        first = rows.pop(pivot)
        product *= first[0] * (-1) ** pivot
        rows = [[a - row[0] / first[0] * b for a, b in zip(row[1:], first[1:], strict=True)] for row in rows]
    return product


@pytest.mark.parametrize("n", [1, 2, 3, 6, 12])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_determinants(dtype: type, n: int) -> None:
    matrices = seeded(5, 2, n, n, seed=n, dtype=dtype)
    expected = np.array([float(determinant(each)) for each in matrices.reshape(10, n, n)]).reshape(5, 2)
    agree(Asked("Det", 11, {"X": matrices}), [expected.astype(dtype)])
