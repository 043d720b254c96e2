"""Strings that are invalid UTF-8, which no literal case can hold. Operators that read characters refuse them; all
others pass them on.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", Path(__file__).parents[2] / "build"))
BAD = {
    "a byte that starts nothing": b"a\xff",
    "the end is missing": b"\xe2\x82",
    "longer than needed": b"\xc0\x80",
    "half a pair": b"\xed\xa0\x80",
}
READERS = {"StringSplit": {}, "StringNormalizer": {}, "RegexFullMatch": {"pattern": "a"}}
RULES = {
    "StringSplit": "StringSplit-20/C1",
    "StringNormalizer": "StringNormalizer-10/C3",
    "RegexFullMatch": "RegexFullMatch-20/C3",
}


def run(op: str, text: bytes, folder: Path, inputs: int = 1, **attributes: str) -> subprocess.CompletedProcess[str]:
    outputs = ["y", "z"] if op == "StringSplit" else ["y"]
    node = helper.make_node(op, ["x"] * inputs, outputs, **attributes)
    fed = helper.make_tensor_value_info("x", TensorProto.STRING, [1])
    graph = helper.make_graph([node], "g", [fed], [onnx.ValueInfoProto(name=name) for name in outputs])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / "m.onnx")
    value = TensorProto(data_type=TensorProto.STRING, dims=[1], string_data=[text])
    (folder / "x.pb").write_bytes(value.SerializeToString())
    command = [
        BUILD / "touchstone",
        "run",
        folder / "m.onnx",
        "--input",
        f"x={folder / 'x.pb'}",
        "--output-dir",
        folder,
    ]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=60)


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("op", READERS)
def test_refused(op: str, kind: str, tmp_path: Path) -> None:
    done = run(op, BAD[kind], tmp_path, **READERS[op])
    assert done.returncode == 3 and f"error[{RULES[op]}]" in done.stderr, done.stderr


@pytest.mark.parametrize("op", READERS)
def test_good_ones_are_not(op: str, tmp_path: Path) -> None:
    done = run(op, "a € 𐍈".encode(), tmp_path, **READERS[op])
    assert done.returncode == 0, done.stderr


def test_passed_on(tmp_path: Path) -> None:
    done = run("StringConcat", BAD["half a pair"], tmp_path, inputs=2)
    assert done.returncode == 0, done.stderr
    assert list(onnx.load_tensor(tmp_path / "output_0.pb").string_data) == [2 * BAD["half a pair"]]
