"""Tests `touchstone fuzz`, `fuzz merge` and `reduce` as commands, on targets that misbehave in worker processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(os.environ.get("TOUCHSTONE_BUILD", "build")) / "touchstone"

# A runtime for float models of one node that are copies or negations, with a fault for each size of the last extent.
TARGET = """
import os, signal
import numpy as np
import onnx

class Faulty:
    def load(self, model, options):
        node = onnx.ModelProto.FromString(model).graph.node[0]
        return node
    def run(self, node, feeds):
        (x,) = feeds.values()
        last = x.shape[-1] if x.ndim else 0
        if last == 3:
            os.kill(os.getpid(), signal.SIGSEGV)
        if last == 4:
            hoard = []
            while True:
                hoard.append(np.empty(1 << 25))
        y = -x
        if last == 5:
            y = y[..., :4]
        if last == 2:
            y = y.copy()
            y[..., 1] += 1
        return {node.output[0]: np.asarray(y)}

# Negates, and is one off where a copy stands behind that.
class Copies:
    def load(self, model, options):
        return onnx.ModelProto.FromString(model).graph
    def run(self, graph, feeds):
        (x,) = feeds.values()
        wrong = sum(node.op_type == "Identity" for node in graph.node)
        return {one.name: np.asarray(-x + wrong) for one in graph.output}
"""


def touchstone(*words: object, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(COMMAND.resolve()), *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "faulty.py").write_text(TARGET)
    return tmp_path


LINES = {
    "crash": "Neg-13(float[2,3]{1})",
    "out-of-memory": "Neg-13(float[2,4]{1})",
    "wrong-shape": "Neg-13(float[2,5]{1})",
    "wrong-value": "Neg-13(float[6,2]{1,2,3})",
}


@pytest.mark.parametrize("verdict", LINES)
def test_a_fault_of_a_worker_is_its_verdict(verdict: str, folder: Path) -> None:
    ran = touchstone("reduce", LINES[verdict], "--target", "python:faulty:Faulty", "--json", folder=folder)
    assert ran.returncode == 1, ran.stderr
    found = json.loads(ran.stdout)
    assert found["outcome"]["verdict"] == verdict
    assert found["outcome"]["node"] == "Neg-13"
    assert found["reduced"]["outcome"]["verdict"] == verdict
    assert len(found["reduced"]["text"]) < len(LINES[verdict])


def test_a_campaign_on_a_worker_goes_on_behind_its_deaths(folder: Path) -> None:
    words = ["fuzz", "--target", "python:faulty:Faulty", "--level", "lines", "--ops", "Neg-13", "--no-reduce"]
    ran = touchstone(*words, "--count", 60, "--dir", "found", "--json", folder=folder)
    assert ran.returncode == 1, ran.stderr
    state = json.loads(ran.stdout)
    assert state["schema"] == "touchstone.fuzz/1"
    (campaign,) = state["campaigns"]
    assert campaign["next"] == 60
    assert campaign["counts"]["exact"] > 0
    verdicts = {finding["outcome"]["verdict"] for finding in state["findings"]}
    assert "crash" in verdicts
    for finding in state["findings"]:
        kept = folder / "found" / "findings" / finding["hash"]
        assert {path.name for path in kept.iterdir()} >= {"model.onnx", "case.json", "replay.py", "issue.md"}
        compile((kept / "replay.py").read_text(), "replay.py", "exec")


def test_a_fault_of_a_worker_behind_a_transformation_is_kept_as_two_models(folder: Path) -> None:
    line = "Neg-13(float[6,2]{1,2,3}) | identity=values"
    words = ["--target", "python:faulty:Copies", "--out", "smaller", "--json"]
    ran = touchstone("reduce", line, *words, folder=folder)
    assert ran.returncode == 1, ran.stderr
    found = json.loads(ran.stdout)
    assert found["outcome"]["pattern"].startswith("identity=values: output 0: "), found
    assert found["reduced"]["text"].endswith(" | identity=values")
    assert {path.name for path in (folder / "smaller").iterdir()} >= {"model.onnx", "transformed.onnx", "replay.py"}
    again = touchstone("reduce", "smaller", *words[:2], "--json", folder=folder)
    assert json.loads(again.stdout)["outcome"]["pattern"] == found["outcome"]["pattern"]
    alone = touchstone("reduce", line.split(" | ")[0], *words[:2], folder=folder)
    assert alone.returncode == 0, alone.stderr


def test_pairs_resume_to_the_same_result(folder: Path) -> None:
    words = ["fuzz", "--target", "fast", "--level", "meta", "--seed", 5, "--no-reduce", "--json"]
    whole = touchstone(*words, "--count", 60, "--dir", "whole", folder=folder)
    touchstone(*words, "--count", 25, "--dir", "parts", folder=folder)
    resumed = touchstone(*words, "--count", 60, "--dir", "parts", "--resume", folder=folder)
    assert timeless(json.loads(resumed.stdout)) == timeless(json.loads(whole.stdout))
    marks = json.loads(whole.stdout)["campaigns"][0]["marks"]
    assert sum(mark.startswith("meta/") for mark in marks) >= 10, marks


def fuzz(folder: Path, *words: object) -> dict:
    ran = touchstone("fuzz", "--target", "fast", "--level", "lines", "--json", *words, folder=folder)
    assert ran.returncode in (0, 1), ran.stderr
    return timeless(json.loads(ran.stdout))


def timeless(state: dict) -> dict:
    for campaign in state["campaigns"]:
        del campaign["seconds"], campaign["growth"], campaign["shards"]
    return state


def test_merged_shards_are_the_whole(folder: Path) -> None:
    whole = fuzz(folder, "--count", 90, "--dir", "whole")
    for shard in range(2):
        fuzz(folder, "--count", 90, "--dir", f"part{shard}", "--shard", f"{shard}/2", "--jobs", 2)
    merge = touchstone("fuzz", "merge", "part0", "part1", "--dir", "all", "--html", "all.html", "--json", folder=folder)
    assert timeless(json.loads(merge.stdout)) == whole
    assert "<h2>" in (folder / "all.html").read_text()
    twice = touchstone("fuzz", "merge", "part0", "part0", "--dir", "twice", folder=folder)
    assert (twice.returncode, "two folders hold shard 0/2" in twice.stderr) == (2, True)


def test_ctrl_c_ends_with_130_and_resume_goes_on(folder: Path) -> None:
    words = ["fuzz", "--target", "fast", "--level", "lines", "--count", "100000000", "--dir", "found"]
    running = subprocess.Popen(
        [str(COMMAND.resolve()), *words], cwd=folder, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not (folder / "found" / "state.json").exists():  # written after two seconds
        assert running.poll() is None
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to the children too
    _, said = running.communicate(timeout=600)
    assert running.returncode == 130, said
    assert "--resume goes on where it was" in said
    done = json.loads((folder / "found" / "state.json").read_text())["campaigns"][0]["next"]
    assert done > 0
    refused = touchstone(*words, folder=folder)
    assert (refused.returncode, "--resume" in refused.stderr) == (2, True)
    other = touchstone(*words[:-1], "found", "--seed", 2, "--resume", folder=folder)
    assert (other.returncode, "holds another campaign" in other.stderr) == (2, True)
    resumed = touchstone(*words[:5], "--count", done + 20, "--dir", "found", "--resume", "--json", folder=folder)
    assert json.loads(resumed.stdout)["campaigns"][0]["next"] == done + 20


def test_a_finding_replays_without_this_project(folder: Path) -> None:
    """The evaluator of the onnx package gets cases of old Upsample versions wrong."""
    words = ["fuzz", "--target", "onnx-reference", "--level", "lines", "--ops", "Upsample*", "--count", 40, "--seed", 1]
    ran = touchstone(*words, "--dir", "found", "--no-reduce", "--json", folder=folder)
    findings = json.loads(ran.stdout)["findings"]
    assert findings, ran.stderr
    shown = []
    for finding in findings:
        script = folder / "found" / "findings" / finding["hash"] / "replay.py"
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=600, check=False)
        shown.append(done.returncode)
    assert 1 in shown, shown
