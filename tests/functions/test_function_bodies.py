"""Every literal case of an operator version that has a function body in the standard, run on that body.

The body's outputs must equal those of the case bit for bit, or pass the judge of the entry. differences.yaml names the
exceptions. Bodies that cannot run, because one of their operators has no semantics yet, are listed in
BUILD/function_bodies.txt.
"""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import onnx
import pytest
import yaml
from onnx import numpy_helper

from codegen.emit_cases import all_cases, load_releases
from codegen.load import load_spec
from codegen.witnesses import key
from tests.functions.bodies import Body, bodies
from tests.witnessed import saw

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
BINARY = BUILD / "touchstone"
PASSES = ("exact", "within", "in-set")
UNSUPPORTED = 4
CASES = list(all_cases(load_spec(ROOT / "spec"), load_releases(ROOT / "spec")))
BODIES = {body.name: body for body in bodies([case for case in CASES if not case.raises])}
DIFFERENCES: dict[str, str] = (
    yaml.safe_load((Path(__file__).parent / "differences.yaml").read_text(encoding="utf-8")) or {}
)


@dataclass(frozen=True)
class Outcome:
    """The result of a body: `kind` is same, judged right, different or unsupported; `detail` explains it."""

    kind: str
    detail: str = ""


def touchstone(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [str(word) for word in (BINARY, *arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def outcome(body: Body, folder: Path) -> Outcome:
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "body.onnx").write_bytes(body.model.SerializeToString())
    (folder / "model.onnx").write_bytes(body.case.model.SerializeToString())
    feeds: list[object] = []
    for position, (info, value) in enumerate(zip(body.model.graph.input, body.case.inputs, strict=True)):
        (data / f"input_{position}.pb").write_bytes(value)
        feeds += ["--input", f"{info.name}={data / f'input_{position}.pb'}"]
    done = touchstone("run", folder / "body.onnx", *feeds, "--output-dir", folder)
    if done.returncode == UNSUPPORTED:
        return Outcome("unsupported", done.stderr.strip())
    if done.returncode != 0:
        return Outcome("different", f"the body does not run: {done.stderr.strip()}")
    found = [(folder / f"output_{k}.pb").read_bytes() for k in range(len(body.case.outputs))]
    infos = body.case.model.graph.output
    if all(same(*each) for each in zip(found, body.case.outputs, infos, strict=True)):
        return Outcome("same")
    for position, value in enumerate(found):
        (data / f"output_{position}.pb").write_bytes(value)
    judged = touchstone("judge", folder / "model.onnx", "--test-data", data, "--json")
    if not judged.stdout:
        return Outcome("different", judged.stderr.strip())
    says = json.loads(judged.stdout)
    return Outcome("right" if says["verdict"] in PASSES else "different", json.dumps(says))


def same(left: bytes, right: bytes, info: onnx.ValueInfoProto) -> bool:
    """True if bit for bit equal, except that any NaN equals any other."""
    if info.type.HasField("sequence_type"):
        both = [onnx.SequenceProto.FromString(side).tensor_values for side in (left, right)]
        return len(both[0]) == len(both[1]) and all(same_tensor(*each) for each in zip(*both, strict=True))
    if left == right or not info.type.HasField("tensor_type"):
        return left == right
    return same_tensor(onnx.TensorProto.FromString(left), onnx.TensorProto.FromString(right))


def same_tensor(a: onnx.TensorProto, b: onnx.TensorProto) -> bool:
    if a.data_type != b.data_type or list(a.dims) != list(b.dims):
        return False
    x, y = numpy_helper.to_array(a), numpy_helper.to_array(b)
    if x.dtype.kind != "f":
        return x.tobytes() == y.tobytes()
    return x[x == x].tobytes() == y[y == y].tobytes() and bool(((x == x) == (y == y)).all())


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    root = tmp_path_factory.mktemp("bodies")
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        made = pool.map(lambda k: outcome(list(BODIES.values())[k], root / str(k)), range(len(BODIES)))
        found = dict(zip(BODIES, made, strict=True))
    waiting = {name: one.detail for name, one in found.items() if one.kind == "unsupported"}
    lines = [f"{name}: {' '.join(why.split())}\n" for name, why in waiting.items()]
    (BUILD / "function_bodies.txt").write_text("".join(lines), encoding="utf-8")
    return found


@pytest.mark.parametrize("name", BODIES)
def test_body(name: str, outcomes: dict[str, Outcome]) -> None:
    found = outcomes[name]
    if found.kind == "unsupported":
        pytest.skip(found.detail)
    if name in DIFFERENCES:
        assert found.kind == "different", "the body agrees: differences.yaml need not name it any more"
        return
    assert found.kind in ("same", "right"), found.detail
    saw("body", key(BODIES[name].case.version))


def test_differences_are_of_cases() -> None:
    assert sorted(DIFFERENCES.keys() - BODIES.keys()) == []
