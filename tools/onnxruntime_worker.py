"""Child process in ONNX Runtime's own environment: reads jobs from standard input, prints a line of JSON as each ends.

A job: {"model": path, "feeds": {name: file}, "folder": output folder, "options": {...}}. The options are those of the
target `onnxruntime`, whose class also runs the jobs here. A model may kill this process, so each answer is flushed to
standard output before the next job.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import onnx

sys.path[0] = str(Path(__file__).resolve().parents[1])  # not this folder: its modules have generic names

from conformance.targets import values  # noqa: E402
from conformance.targets.target import UnsupportedError  # noqa: E402
from conformance.targets.vendors.onnxruntime import OnnxRuntime, native  # noqa: E402

TOO_NEW = ("under development", "Unsupported model IR version")


def answer(runtime: OnnxRuntime, job: dict[str, Any]) -> dict[str, Any]:
    """Runs one job and writes its outputs, each as the message of its type."""
    graph = onnx.load(job["model"], load_external_data=False).graph
    types = {info.name: info.type for info in [*graph.input, *graph.output]}
    session = runtime.open(job["model"], job.get("options", {}))
    feeds = {name: values.read(Path(file).read_bytes(), types[name]) for name, file in job["feeds"].items()}
    began = time.monotonic()
    results = runtime.run(session, feeds)
    row: dict[str, Any] = {"seconds": time.monotonic() - began, "outputs": {}}
    for position, (name, value) in enumerate(results.items()):
        file = Path(job["folder"]) / f"output_{position}.pb"
        _, data = values.write(value, types.get(name))
        file.write_bytes(data)
        row["outputs"][name] = str(file)
    return row


def kind_of(error: Exception) -> str:
    """Classifies an error. Unlike in a suite, a FAIL on a supported model counts as an error, not as unsupported."""
    refused = isinstance(error.__cause__, native.Fail) and not any(word in str(error) for word in TOO_NEW)
    return "unsupported" if isinstance(error, UnsupportedError) and not refused else "error"


def main() -> None:
    runtime = OnnxRuntime()
    for job in json.load(sys.stdin):
        row: dict[str, Any] = {
            "kind": "outputs",
            "outputs": {},
            "why": "",
            "runtime": f"ONNX Runtime {runtime.version}",
        }
        try:
            row |= answer(runtime, job)
        except Exception as error:  # the runtime raises all classes of exceptions
            row |= {"kind": kind_of(error), "why": f"{type(error).__name__}: {error}"}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
