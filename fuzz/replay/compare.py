"""Common part of replay.py: runs the case of its folder and compares outputs with the expected ones."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

FOLDER = Path(__file__).resolve().parent
READ = {
    "tensor_type": (onnx.TensorProto, numpy_helper.to_array),
    "sequence_type": (onnx.SequenceProto, numpy_helper.to_list),
    "optional_type": (onnx.OptionalProto, numpy_helper.to_optional),
}


def values(infos: Sequence[onnx.ValueInfoProto], folder: Path, name: str) -> dict[str, Any]:
    """Reads NAME_K.pb of a data set."""
    found = {}
    for k, info in enumerate(infos):
        if (file := folder / f"{name}_{k}.pb").exists():
            kind, convert = READ[info.type.WhichOneof("value") or "tensor_type"]
            found[info.name] = convert(kind.FromString(file.read_bytes()))
    return found


def number(text: str) -> float | None:
    try:
        return float(text.split()[0])
    except (ValueError, IndexError):
        return None


def shows(
    outcome: dict, data_set: int, infos: Sequence[onnx.ValueInfoProto], given: Sequence, expected: dict[str, Any]
) -> bool:
    """True if an output is wrong: the known element by more than half of its known error, or any shape or type."""
    known = outcome.get("element", {})
    for info, got in zip(infos, given, strict=False):
        right = expected.get(info.name)
        if not isinstance(right, np.ndarray):
            if right is not None and repr(got) != repr(right):
                return True
            continue
        got = np.asarray(got)
        if got.shape != right.shape or got.dtype != right.dtype:
            return True
        where, seen = known.get("where", -1), number(known.get("actual", ""))
        if known.get("output") != info.name or known.get("data_set") != data_set or where < 0:
            continue
        a, b = got.reshape(-1)[where], right.reshape(-1)[where]
        if seen is None or not np.isfinite([float(a), float(b), seen]).all():
            if str(a) != str(b):
                return True
        elif abs(float(a) - float(b)) > abs(seen - float(b)) / 2:
            return True
    return False


def digest(given: Sequence) -> str:
    """Hash of the bits of outputs."""
    arrays = [value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode() for value in given]
    return hashlib.sha1(b"|".join(arrays)).hexdigest()


def run_side(load: Callable, side: str, finding: dict) -> int:
    """Runs one model. `transformed` is the model that means the same as `model`, if the case is such a pair."""
    outcome, verdict = finding["outcome"], finding["outcome"]["verdict"]
    graph = onnx.load(FOLDER / f"{side}.onnx").graph
    held = {one.name for one in graph.initializer}
    inputs = [info for info in graph.input if info.name not in held]
    path, options = str(FOLDER / f"{side}.onnx"), finding.get("options", "") if side == "transformed" else ""
    sets = "transformed_data_set" if side == "transformed" else "test_data_set"
    try:
        run = load(path, options) if options else load(path)
        for k, data in enumerate(sorted(FOLDER.glob(f"{sets}_*"), key=lambda one: int(one.name.rsplit("_", 1)[1]))):
            feeds, expected = values(inputs, data, "input"), values(graph.output, data, "output")
            given, again = run(feeds), run(feeds)
            print(side, "got", given, "expected", list(expected.values()))
            print("digest", digest(given))
            if shows(outcome, k, graph.output, given, expected):
                return 1
            if verdict == "nondeterministic" and digest(given) != digest(again):
                return 1
    except Exception as error:
        print(type(error).__name__, error)
        return 1 if verdict in ("rejected-valid", "crash", "out-of-memory") else 0
    return 1 if verdict == "accepted-invalid" else 0


def main(load: Callable) -> int:
    finding = json.loads((FOLDER / "case.json").read_text())
    verdict = finding["outcome"]["verdict"]
    if sys.argv[1:]:
        return run_side(load, sys.argv[1], finding)
    digests = []
    for side in ("model", "transformed"):
        if not (FOLDER / f"{side}.onnx").exists():
            continue
        words = [sys.executable, __file__, side]  # the child may die
        done = subprocess.run(words, check=False, timeout=300, stdout=subprocess.PIPE, text=True)
        print(done.stdout)
        if done.returncode:
            return 1 if done.returncode < 0 and verdict == "crash" else done.returncode
        digests.append([line for line in done.stdout.splitlines() if line.startswith("digest ")])
    before, after = digests[0], digests[-1]
    return 1 if verdict == "nondeterministic" and before != after[-len(before) :] else 0
