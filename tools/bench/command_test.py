"""Tests `touchstone bench` as a command, with runtimes that are right, wrong, late, dying or silent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest

from tools.bench.table import HEAD, table_of

COMMAND = Path(os.environ.get("TOUCHSTONE_BUILD", "build")) / "touchstone"
BAD = Path(__file__).with_name("bad_runtime.py")
DOUBLE = """
<ir_version: 8, opset_import: ["": 16]>
g (float[n, 3] x) => (float[n, 3] y) { y = Add (x, x) }
"""
CONSTANT = """
<ir_version: 8, opset_import: ["": 16]>
g (float[n, 3] x) => (float[n, 3] y) { z = Sub (x, x) one = Exp (z) y = Add (one, z) }
"""
# Two runs in each process suffice: these tests do not check timings.
QUICK = ["--seconds", "0.001", "--loads", "1"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    file = tmp_path / "double.onnx"
    onnx.save(onnx.parser.parse_model(DOUBLE), file)
    return file


def bad(deed: str) -> str:
    return f"command:{sys.executable} {BAD} {deed}"


def bench(*words: object, quick: list[str] = QUICK) -> tuple[int, dict[str, Any], str]:
    command = [str(COMMAND), "bench", *map(str, words), *quick, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


def against(model: Path, deed: str, *words: object) -> tuple[int, dict[str, Any]]:
    """Returns the peer's row; our row must be valid whatever the peer does."""
    code, found, said = bench(model, "--runtime", "reference", "--against", bad(deed), "--dim", "n=2", *words)
    assert found, said
    (heat,) = found["heats"]
    ours, peer = heat["runtimes"]
    assert (ours["runtime"], ours["valid"]) == ("reference", True)
    assert peer["runtime"] == bad(deed)
    assert found["exit"] == code
    assert bool(found["means"]) == peer["valid"]
    return code, peer


def test_a_peer_that_is_right_has_figures(model: Path) -> None:
    code, peer = against(model, "right")
    assert code == 0
    assert (peer["valid"], peer["fall"], peer["why"]) == (True, "", "")
    assert (peer["version"], peer["settings"], peer["load_seconds"]) == ("bad 0", "right", [0.5])
    seconds = peer["seconds"]
    assert [seconds[key] for key in ("median", "p95", "least", "first")] == [0.0625] * 4
    assert seconds["rounds"] == 3
    assert seconds["runs"] == 9  # three in a fifth of a second
    assert (peer["judged"], peer["distance"]) == (3, 0)
    assert peer["bytes"] == {"peak": 3, "before": 2, "library": 1}
    assert peer["ratio"]["low"] <= peer["ratio"]["median"] <= peer["ratio"]["high"]


def test_loads_take_turns_and_find_memory_and_no_other_runtime(model: Path, tmp_path: Path) -> None:
    """Two peers log each model that they open: five loads, and one for the runs, with the live processes."""
    log = tmp_path / "log"
    peers = [f"{bad('right')} {log} {name}" for name in "ab"]
    words = [model, "--runtime", "reference", "--against", ",".join(peers), "--dim", "n=2"]
    code, found, said = bench(*words, quick=QUICK[:2])
    assert code == 0, said
    assert found["loads"] == 5
    assert [len(row["load_seconds"]) for row in found["heats"][0]["runtimes"]] == [5, 5, 5]
    told = [line.split() for line in log.read_text().splitlines()]
    # The turns of reference, a and b are 0 1 2, 1 0 2, 2 0 1, 0 2 1, 1 2 0.
    assert "".join(name for name, *_ in told[:10]) == "ababbabaab"
    assert all(found == ["beside:", "given:True"] for _, _, *found in told[:10])
    assert [[name, *found] for name, _, *found in told[10:]] == [
        ["a", "beside:", "given:False"],
        ["b", "beside:a", "given:False"],
    ]
    assert "times to load are medians of 5." in table_of(found)


def test_the_table_holds_what_stands_and_why_the_rest_does_not(model: Path) -> None:
    """Two thread counts, one right peer and one that crashes: a row each, and the roof's line."""
    words = ["--runtime", "reference", "--against", f"{bad('right')},{bad('crash')}", "--dim", "n=2"]
    _, found, said = bench(model, *words, "--threads", "1,2", "--roof")
    assert found, said
    lines = table_of(found).splitlines()
    columns = HEAD.count("|")
    rows = [line for line in lines if line.startswith("| double")]
    assert len(rows) == 6
    assert all(line.count("|") == columns for line in rows)
    right = [line for line in rows if f"| {bad('right')} | 62.50 | 62.50 |" in line]
    assert [line.split(" | ")[1] for line in right] == ["1", "2"]
    assert sum(" crashed: signal 11" in line for line in rows) == 2
    assert sum(line.startswith("Roof, ") for line in lines) == 2
    assert any(line.startswith(f"| {bad('right')} | 1 | 1 | ") for line in lines)


def test_a_peer_twice_as_slow_has_twice_the_time(model: Path) -> None:
    _, peer = against(model, "slow")
    assert peer["seconds"]["median"] == 0.125


@pytest.mark.parametrize(
    ("deed", "code", "fall", "why"),
    [
        ("remember", 1, "wrong", "output 'y' is "),  # the same answer for any input
        ("late-fault", 1, "wrong", "output 'y' is "),  # right during warm-up
        ("silent", 1, "wrong", "output 'y' is missing"),
        ("other-type", 1, "wrong", "output 'y' is tensor(double) | tensor(float)"),
        ("crash", 5, "crashed", "signal 11 (Segmentation fault): it hurts"),
        ("fail", 5, "failed", "out of luck"),
        ("garble", 5, "failed", "it answered what is no answer: "),
        ("short", 5, "failed", "it was asked for 1 runs and timed 0"),
        ("no-time", 5, "failed", "it answered what is no answer: "),
        ("negative", 5, "failed", "it answered with a time that is none"),
        ("refuse", 4, "unsupported", "no kernel for it"),
    ],
)
def test_a_peer_that_falls_is_named_and_has_no_figure(model: Path, deed: str, code: int, fall: str, why: str) -> None:
    ended, peer = against(model, deed)
    assert (ended, peer["fall"]) == (code, fall)
    assert peer["why"].startswith(why)
    assert not peer["valid"]
    assert "seconds" not in peer
    assert "ratio" not in peer


def test_a_peer_that_hangs_is_late(model: Path) -> None:
    code, peer = against(model, "hang", "--timeout", "5")
    assert (code, peer["fall"], peer["why"]) == (6, "late", "no answer within 5000 ms")


def test_outputs_that_no_input_moves_judge_nothing(tmp_path: Path) -> None:
    file = tmp_path / "constant.onnx"
    onnx.save(onnx.parser.parse_model(CONSTANT), file)
    code, found, _ = bench(file, "--runtime", "reference")
    assert code == 1
    (row,) = found["heats"][0]["runtimes"]
    assert not row["valid"]
    assert "no comparison could fail" in row["why"]


def test_each_number_of_threads_is_a_heat_and_the_roof_is_told(model: Path) -> None:
    code, found, _ = bench(model, "--runtime", "reference", "--threads", "1,2")
    assert code == 0
    assert found["schema"] == "touchstone.bench/1"
    assert [(heat["model"], heat["threads"]) for heat in found["heats"]] == [("double", 1), ("double", 2)]
    assert found["roofs"] == []


def test_what_the_reference_gave_is_kept_and_asked_again(model: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    words = (model, "--runtime", "reference", "--expected", kept)
    assert bench(*words)[0] == 0
    files = sorted(kept.glob("*/output_0.npy"))
    assert len(files) == 4  # three sets of inputs, and one moved by an ulp
    assert bench(*words)[0] == 0
    answers = [file.read_bytes() for file in files]
    for file, answer in zip(files, answers[1:] + answers[:1], strict=True):
        file.write_bytes(answer)
    assert bench(*words)[0] == 1


def test_files_take_turns_as_inputs(model: Path, tmp_path: Path) -> None:
    """Two sets of inputs of a size that the model leaves open."""
    sets = []
    for k in range(2):
        file = tmp_path / f"x{k}.npy"
        np.save(file, np.full((5, 3), k, np.float32))
        sets.append({"x": str(file)})
    feeds = tmp_path / "feeds.json"
    feeds.write_text(json.dumps({"sets": sets}))
    words = ["--runtime", "reference", "--against", bad("right"), "--feeds", feeds]
    code, found, said = bench(model, *words)
    assert code == 0, said
    assert found["input_sets"] == 2
    assert [row["valid"] for row in found["heats"][0]["runtimes"]] == [True, True]


def test_without_a_judge_outputs_are_compared_with_ours(model: Path) -> None:
    for deed, apart in (("right", False), ("other-type", True)):
        code, peer = against(model, deed, "--no-judge")
        assert (code, peer["valid"], peer["judged"]) == (0, True, 0)
        assert (peer["distance"] != 0) == apart  # null: outputs of another type are infinitely far


def test_a_peer_that_does_not_start_is_an_error(model: Path) -> None:
    code, found, said = bench(model, "--runtime", "reference", "--against", "command:/nowhere/runtime")
    assert (code, found["kind"], found["exit_code"]) == (7, "file", 7)
    assert "cannot start '/nowhere/runtime'" in said
