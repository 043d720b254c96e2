"""Recorded outputs of scikit-learn and ONNX Runtime for models that scikit-learn fitted.

They are inside the bounds of our definitions, and slightly changed ones are not. If ONNX Runtime departs by a question,
the judge refuses its output.
"""

from __future__ import annotations

import copy
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import yaml

from tests.codes.graphs import judgement
from tests.ml.nodes import Record, model_of, proto_of
from tests.witnessed import saw

ROOT = Path(__file__).parents[2]
PEER = ROOT / ".venv-onnxruntime" / "bin" / "python"
SPEC = ROOT / "spec" / "ops" / "ai.onnx.ml"
KEPT = json.loads((Path(__file__).parent / "answers.json").read_text(encoding="utf-8"))
NODES: list[Record] = KEPT["nodes"]
SOURCES = ("scikit-learn", "onnxruntime")
PASSES = ("exact", "within", "in-set", "mistrusted")  # mistrusted: nine of ten outputs of a one-class machine are 1

every = pytest.mark.parametrize("node", NODES, ids=lambda node: node["name"])


def judged(folder: Path, node: Record, answers: list[Record]) -> dict[str, Any]:
    """The judge's JSON for these outputs of a node, given its recorded inputs."""
    inputs, outputs = ([proto_of(each).SerializeToString() for each in side] for side in (node["inputs"], answers))
    return judgement(folder, model_of(node), inputs, outputs)


@every
@pytest.mark.parametrize("source", SOURCES)
def test_answer_is_within_the_bounds(node: Record, source: str, tmp_path: Path) -> None:
    if node[source] is None:
        pytest.skip(f"{source} {KEPT['sources'][source]} does not run {node['op']}-{node['since']}")
    found = judged(tmp_path, node, node[source])
    if source == "onnxruntime" and "departs" in node:
        assert found["verdict"] not in PASSES, f"{node['departs']} says that it departs here"
        assert list((ROOT / "spec" / "questions").glob(f"{node['departs']}-*.md")), "no such question"
    else:
        assert found["verdict"] in PASSES, found["detail"] or found["outputs"]
        saw(source, f"ai.onnx.ml.{node['op']}-{node['since']}")


@every
def test_what_is_beside_it_is_refused(node: Record, tmp_path: Path) -> None:
    """Changes one output at a time: the largest number by a hundredth, or a string or integer to another. The judge
    refuses each.
    """
    for position, said in enumerate(node["scikit-learn"]):
        answers = copy.deepcopy(node["scikit-learn"])
        answers[position]["data"] = beside(said)
        found = judged(tmp_path / str(position), node, answers)
        assert found["verdict"] == "wrong-value", f"output {position}: {found['verdict']} {found['detail']}"


def beside(said: Record) -> list[Any]:
    data = list(said["data"])
    if said["type"] in ("float", "double"):
        at = int(np.nanargmax(np.abs(data)))
        data[at] *= 1.01
    else:
        others = sorted(set(data) - {data[0]})
        data[0] = others[0] if others else data[0] * 2 + 1
    return data


TIE: Record = {
    "name": "tie",
    "op": "LinearClassifier",
    "since": 1,
    "attributes": {
        "coefficients": [0.1, 0.1, 0.1, 0.3, 0.0, 0.0, 0.2, 0.0, 0.0],
        "classlabels_strings": ["sum", "whole", "less"],
    },
    "inputs": [{"type": "float", "shape": [1, 3], "data": [1.0, 1.0, 1.0]}],
}


@pytest.mark.parametrize("label, right", [("sum", True), ("whole", True), ("less", False), ("none of them", False)])
def test_label_follows_scores_that_rounding_cannot_tell_apart(label: str, right: bool, tmp_path: Path) -> None:
    """The float sum of three tenths is slightly less or more than 0.3, depending on the order of roundings."""
    scores = {"type": "float", "shape": [1, 3], "data": [0.3, 0.3, 0.2]}
    answers = [{"type": "string", "shape": [1], "data": [label]}, scores]
    found = judged(tmp_path, TIE | {"scikit-learn": answers}, answers)
    assert (found["verdict"] in PASSES) == right, found


def test_label_of_clear_scores_does_not_follow(tmp_path: Path) -> None:
    clear = copy.deepcopy(TIE) | {"inputs": [{"type": "float", "shape": [1, 3], "data": [1.0, 2.0, 1.0]}]}
    answers = [
        {"type": "string", "shape": [1], "data": ["whole"]},
        {"type": "float", "shape": [1, 3], "data": [0.4, 0.3, 0.2]},
    ]
    assert judged(tmp_path, clear | {"scikit-learn": answers}, answers)["verdict"] == "wrong-value"


def test_every_operator_is_here_or_says_why_not() -> None:
    """Operators that neither package has in this form, or where both depart by a question, have literal cases alone."""
    alone = {"ArrayFeatureExtractor", "CastMap", "CategoryMapper", "FeatureVectorizer", "ZipMap"}
    assert {file.stem for file in SPEC.glob("*.yaml")} == {node["op"] for node in NODES} | alone
    for op in alone:
        versions = yaml.safe_load((SPEC / f"{op}.yaml").read_text(encoding="utf-8"))["versions"]
        assert all(len(version["cases"]) >= 5 for version in versions)


def test_onnxruntime_answers_so_still(tmp_path: Path) -> None:
    if not PEER.exists():
        pytest.skip(f"onnxruntime: there is no {PEER.relative_to(ROOT)}; make full makes it")
    jobs = []
    for node in NODES:
        if node["onnxruntime"] is None or node["inputs"][0]["type"].startswith("map("):
            continue
        folder = tmp_path / node["name"]
        folder.mkdir()
        onnx.save(model_of(node), folder / "model.onnx")
        (folder / "in_0.pb").write_bytes(proto_of(node["inputs"][0]).SerializeToString())
        feeds = {"in_0": str(folder / "in_0.pb")}
        jobs.append({"folder": str(folder), "feeds": feeds, "model": str(folder / "model.onnx")})
    worker = ROOT / "tools" / "onnxruntime_worker.py"
    done = subprocess.run(
        [str(PEER), str(worker)], input=json.dumps(jobs), capture_output=True, text=True, check=True, timeout=300
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    for job, row in zip(jobs, rows, strict=True):
        assert row["kind"] == "outputs", f"{job['folder']}: {row['why']}"
        node = next(each for each in NODES if each["name"] == Path(job["folder"]).name)
        fresh = [onnx.numpy_helper.to_array(onnx.load_tensor(file)) for file in row["outputs"].values()]
        for kept, array in zip(node["onnxruntime"], fresh, strict=True):
            close = (
                array.tolist() == np.reshape(kept["data"], kept["shape"]).tolist()
                if kept["type"] in ("string", "int64")
                else None
            )
            assert close is not False, node["name"]
            if close is None:  # another processor sums in another order
                found = judged(
                    tmp_path / node["name"] / "again",
                    node,
                    [as_record(each, said) for each, said in zip(fresh, node["onnxruntime"], strict=True)],
                )
                assert found["verdict"] in PASSES or "departs" in node, f"{node['name']}: {found['detail']}"


def as_record(array: np.ndarray, said: Record) -> Record:
    data = [each.decode() if isinstance(each, bytes) else each for each in array.ravel().tolist()]
    return {"type": said["type"], "shape": list(array.shape), "data": data}
