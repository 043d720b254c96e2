"""Nodes whose sizes add up or multiply past 64 bits: every runtime refuses them by name and never computes with wrapped
sizes.

Each attribute is allowed by itself; only sums and products of them are too large. A wrapped, small window would read
far outside its tensor.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", Path(__file__).parents[2] / "build"))
LIMIT, RULE = 6, 3  # exit codes
MAX = 2**63 - 1
DOES_NOT_FIT = "does not fit 64 bits"

Values = dict[str, np.ndarray]


def ones(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.ones(shape, dtype)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def model(op: str, opset: int, feeds: Values, constants: Values, sequence: bool = False, **attributes: Any) -> bytes:
    names = [*feeds, *constants]
    node = helper.make_node(op, names, ["Y"], **attributes)
    inputs = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in feeds.items()
    ]
    kind = helper.make_tensor_sequence_value_info if sequence else helper.make_tensor_value_info
    first = next(iter(feeds.values())) if feeds else next(iter(constants.values()))
    of = TensorProto.INT32 if op == "ConvInteger" else helper.np_dtype_to_tensor_dtype(first.dtype)
    graph = helper.make_graph(
        [node], "far", inputs, [kind("Y", of, None)], [numpy_helper.from_array(v, n) for n, v in constants.items()]
    )
    ir = 3 if opset < 7 else 8 if opset < 19 else 10
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir).SerializeToString()


@pytest.fixture(params=["reference", "fast"])
def runtime(request: pytest.FixtureRequest) -> str:
    return request.param


def run(folder: Path, made: bytes, runtime: str) -> subprocess.CompletedProcess[str]:
    (folder / "model.onnx").write_bytes(made)
    words = [BUILD / "touchstone", "run", folder / "model.onnx", "--random", "--runtime", runtime]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False, timeout=120)
    if "this build has no fast executor" in done.stderr:
        pytest.skip("this build has no fast executor")
    return done


# Eight gaps of 2^61 between nine taps: 2^64, which wraps to 0.
FAR, TAPS = 2**61, 9
IMAGE = {"X": ones(1, 1, 16)}
PAIR = {"X": ones(1, 1, 16, 16)}

WINDOWS = {
    "Conv": model("Conv", 21, IMAGE, {"W": ones(1, 1, TAPS)}, dilations=[FAR]),
    "Conv of double": model(
        "Conv", 21, {"X": ones(1, 1, 16, dtype=np.float64)}, {"W": ones(1, 1, 17, dtype=np.float64)}, dilations=[2**60]
    ),
    "Conv of two dimensions": model("Conv", 21, PAIR, {"W": ones(1, 1, 1, TAPS)}, dilations=[1, FAR]),
    "ConvInteger": model(
        "ConvInteger",
        21,
        {"X": ones(1, 1, 16, dtype=np.uint8)},
        {"W": ones(1, 1, 17, dtype=np.uint8)},
        dilations=[2**60],
    ),
    "ConvTranspose": model("ConvTranspose", 21, IMAGE, {"W": ones(1, 1, TAPS)}, dilations=[FAR]),
    "ConvTranspose, to less than nothing": model(
        "ConvTranspose", 1, {"X": ones(1, 1, 2)}, {"W": ones(1, 1, 3)}, dilations=[MAX]
    ),
    "ConvTranspose, strides": model("ConvTranspose", 21, {"X": ones(1, 1, 9)}, {"W": ones(1, 1, 1)}, strides=[FAR]),
    "DeformConv": model(
        "DeformConv",
        21,
        {"X": ones(1, 1, 1, 16)},
        {"W": ones(1, 1, 1, TAPS), "offset": np.zeros((1, 2 * TAPS, 1, 16), np.float32)},
        dilations=[1, FAR],
    ),
    "MaxPool": model("MaxPool", 21, IMAGE, {}, kernel_shape=[TAPS], dilations=[FAR]),
    "MaxPool of two dimensions": model("MaxPool", 21, PAIR, {}, kernel_shape=[1, TAPS], dilations=[1, FAR]),
    "AveragePool": model("AveragePool", 21, IMAGE, {}, kernel_shape=[TAPS], dilations=[FAR]),
    "LpPool": model("LpPool", 21, IMAGE, {}, kernel_shape=[TAPS], dilations=[FAR]),
    "AveragePool, pads": model("AveragePool", 21, {"X": ones(0, 0, 2)}, {}, kernel_shape=[2**32], pads=[MAX, 1]),
    "Col2Im": model(
        "Col2Im", 21, {"X": ones(1, 9, 16)}, {"image": ints(1, 16), "block": ints(1, TAPS)}, dilations=[1, FAR]
    ),
}

SIZES = {
    "Tile": model("Tile", 21, {"X": ones(4)}, {"repeats": ints(2**62)}),
    "Pad": model("Pad", 21, {"X": ones(4)}, {"pads": ints(MAX, MAX)}),
    "Reshape": model("Reshape", 21, {"X": ones(4)}, {"shape": ints(2**32, 2**32, -1)}),
    "SplitToSequence": model("SplitToSequence", 21, {"X": ones(4)}, {"split": ints(MAX, MAX, 6)}, sequence=True),
    "Split": model("Split", 13, {"X": ones(4)}, {"split": ints(2**62)}),
    "Range": model("Range", 21, {}, {"start": np.int64(-(2**63)), "limit": np.int64(MAX), "delta": np.int64(1)}),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_a_window_past_64_bits_is_refused(name: str, runtime: str, tmp_path: Path) -> None:
    done = run(tmp_path, WINDOWS[name], runtime)
    assert done.returncode == LIMIT, (done.returncode, done.stdout, done.stderr)
    assert DOES_NOT_FIT in done.stderr and f"({name.split(',')[0].split()[0]})" in done.stderr


@pytest.mark.parametrize("name", SIZES)
def test_a_size_past_64_bits_is_refused(name: str, runtime: str, tmp_path: Path) -> None:
    done = run(tmp_path, SIZES[name], runtime)
    assert done.returncode in (LIMIT, RULE), (done.returncode, done.stdout, done.stderr)
    assert f"({name})" in done.stderr
