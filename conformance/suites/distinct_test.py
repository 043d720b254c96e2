"""The suite of all releases: cases that count as equal, and that each occurs once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from conformance.suites import distinct
from conformance.suites.distinct import content_hash, distinct_cases
from conformance.suites.folders import write_manifest

Write = Callable[..., Path]


def model_of(
    opset: int = 13, doc: str = "", op: str = "Softmax", axis: int = 1, first: str = "axis"
) -> onnx.ModelProto:
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2], doc)
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    attributes = {"axis": 0} if op == "Softmax" else {"beta": 2.0, "alpha": 0.5}
    node = helper.make_node(op, ["x"], ["y"], name=doc, doc_string=doc, **attributes)
    if axis != 1:
        node.attribute[0].i = axis
    if first != "axis":
        node.attribute.reverse()
    graph = helper.make_graph([node], doc or "g", [info], [out], doc_string=doc)
    return helper.make_model(
        graph, producer_name=doc, ir_version=4 if doc else 8, opset_imports=[helper.make_opsetid("", opset)]
    )


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Returns a writer of cases of one release."""

    def go(
        name: str,
        model: onnx.ModelProto,
        x: tuple[float, ...] = (1, 2),
        y: tuple[float, ...] = (3, 4),
        raw: bool = True,
    ) -> Path:
        folder = tmp_path / name
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        onnx.save(model, folder / "model.onnx")
        for file, values in (("input_0", x), ("output_0", y)):
            array = np.array(values, np.float32)
            tensor = (
                numpy_helper.from_array(array, name)
                if raw
                else helper.make_tensor(name, TensorProto.FLOAT, array.shape, array)
            )
            (data / f"{file}.pb").write_bytes(tensor.SerializeToString())
        (folder / "case.json").write_text(json.dumps({"name": folder.name, "kind": folder.parent.name, "rtol": 0.5}))
        return folder

    return go


def test_who_wrote_it_and_when_is_no_difference(write: Write) -> None:
    one = content_hash(write("1/node/a", model_of()))
    assert content_hash(write("1/node/b", model_of(doc="written by nobody"))) == one
    assert content_hash(write("1/node/c", model_of(), raw=False)) == one
    sigmoid = content_hash(write("1/node/d", model_of(op="HardSigmoid")))
    assert content_hash(write("1/node/e", model_of(op="HardSigmoid", first="beta"))) == sigmoid


def test_the_opset_counts(write: Write) -> None:
    assert content_hash(write("1/node/a", model_of(12))) != content_hash(write("1/node/b", model_of(13)))


@pytest.mark.parametrize(
    "other",
    [
        {"model": model_of(axis=0, op="HardSigmoid")},
        {"model": model_of(axis=5)},
        {"x": (1, 3)},
        {"y": (3, 5)},
        {"y": (3, 4, 5)},
    ],
)
def test_attributes_and_values_count(write: Write, other: dict) -> None:
    assert content_hash(write("1/node/a", model_of())) != content_hash(
        write("1/node/b", **({"model": model_of()} | other))
    )


@pytest.fixture
def suites(write: Write, tmp_path: Path) -> dict[str, Path]:
    write("1.2.1/node/test_same", model_of())
    write("1.2.1/node/test_moved", model_of(), (5, 6))
    write("1.2.1/node/test_random", model_of(), (7, 8))
    write("1.6.0/node/test_same", model_of(13, "another producer"))
    write("1.6.0/simple/test_moved_here", model_of(), (5, 6))
    write("1.6.0/node/test_random", model_of(), (9, 10))
    releases = {release: tmp_path / release for release in ("1.2.1", "1.6.0")}
    for release, suite in releases.items():
        write_manifest(suite, release)
    return releases


def test_each_stands_there_once_and_knows_its_releases(suites: dict[str, Path], tmp_path: Path) -> None:
    root = tmp_path / "all"
    distinct.make(root, suites)
    found = {file.parent.relative_to(root).as_posix(): json.loads(file.read_text()) for file in root.rglob("case.json")}
    assert {name: facts["releases"] for name, facts in found.items()} == {
        "1.2.1/node/test_same": {"1.2.1": ["node/test_same"], "1.6.0": ["node/test_same"]},
        "1.2.1/node/test_moved": {"1.2.1": ["node/test_moved"], "1.6.0": ["simple/test_moved_here"]},
        "1.2.1/node/test_random": {"1.2.1": ["node/test_random"]},
        "1.6.0/node/test_random": {"1.6.0": ["node/test_random"]},
    }
    same = found["1.2.1/node/test_same"]
    assert (same["kind"], same["name"], same["rtol"]) == ("1.2.1/node", "test_same", 0.5)
    assert same["hash"] == content_hash(root / "1.2.1/node/test_same")
    assert len({facts["hash"] for facts in found.values()}) == 4


def test_files_are_stored_once(suites: dict[str, Path], tmp_path: Path) -> None:
    root = tmp_path / "all"
    distinct.make(root, suites)
    name = "node/test_same/test_data_set_0/input_0.pb"
    assert (root / "1.2.1" / name).samefile(suites["1.2.1"] / name)


def test_they_come_in_the_order_of_their_hashes(suites: dict[str, Path]) -> None:
    hashes = [case.hash for case in distinct_cases(suites)]
    assert hashes == sorted(hashes) and len(hashes) == 4
