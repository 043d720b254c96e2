"""Checks that make.py reproduces the committed file, and that onnx reads both forms of every tensor as equal."""

from __future__ import annotations

from pathlib import Path

import numpy
import onnx
from onnx import numpy_helper

from model.testdata.make import make

FILE = Path(__file__).parent / "every_type.onnx"


def test_the_file_is_what_its_maker_makes() -> None:
    assert FILE.read_bytes() == make()


def test_onnx_reads_both_forms_alike() -> None:
    tensors = {tensor.name: tensor for tensor in onnx.load(FILE).graph.initializer}
    names = {name.rsplit("_", 1)[0] for name in tensors} - {"STRING"}
    assert len(names) == 27
    for name in sorted(names):
        raw, typed = (numpy_helper.to_array(tensors[f"{name}_{form}"]) for form in ("raw", "typed"))
        assert raw.dtype == typed.dtype
        numpy.testing.assert_array_equal(raw.view(numpy.uint8), typed.view(numpy.uint8), err_msg=name)
