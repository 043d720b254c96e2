"""Process of a peer of `touchstone bench`, in the peer's own environment: opens a model, runs it, times each run.

Messages are JSON after an eight-byte length, on standard input; messages.cc is the other end. Tensors are sent as .npy
files. Only the run itself is timed. Outputs of the last runs are kept until the next ones begin, since the bench
chooses later which of them it compares. Only modules that the peer needs are imported, because its memory is measured
too.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np


def memory(line: str) -> int:
    """Returns a line such as 'VmHWM:   123 kB' of this process's status, in bytes."""
    for row in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if row.startswith(line + ":"):
            return int(row.split()[1]) * 1024
    return 0


def mapped_below(folder: Path) -> int:
    """Returns the mapped bytes of files below a folder: the libraries that the process uses."""
    below, total = folder.resolve(), 0
    for row in Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines():
        words = row.split(maxsplit=5)
        if len(words) == 6 and words[1] != "---p" and Path(words[5]).is_relative_to(below):
            first, end = (int(word, 16) for word in words[0].split("-"))
            total += end - first
    return total


class Worker:
    def __init__(self, runtime: str):
        self.before = memory("VmRSS")
        self.vendor = importlib.import_module(f"tools.bench.vendors.{runtime}")
        self.session: Any = None
        self.sets: list[dict[str, np.ndarray]] = []
        self.fed: list[Any] = []  # the sets in the runtime's own representation
        self.outputs: list[dict[str, np.ndarray]] = []

    def open(self, request: dict[str, Any]) -> dict[str, Any]:
        self.sets = [{one["name"]: np.load(one["file"]) for one in files} for files in request["input_sets"]]
        shapes = {name: list(value.shape) for name, value in self.sets[0].items()}
        began = time.perf_counter()
        self.session = self.vendor.Session(request["model"], request["threads"], request["dims"], shapes)
        seconds = time.perf_counter() - began
        self.fed = [self.session.prepared(feeds) for feeds in self.sets]
        return {"version": self.vendor.VERSION, "settings": self.session.settings, "seconds": seconds}

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        self.outputs.clear()
        seconds = []
        for which in request["sets"]:
            feeds = self.fed[which]
            began = time.perf_counter()
            raw = self.session.run(feeds)
            seconds.append(time.perf_counter() - began)
            self.outputs.append(self.session.named(raw))
        return {"seconds": seconds}

    def show(self, request: dict[str, Any]) -> dict[str, Any]:
        files = []
        for name, value in self.outputs[request["run"]].items():
            file = Path(request["folder"]) / f"output_{len(files)}.npy"
            np.save(file, value.astype(str) if value.dtype == object else value)  # strings
            files.append({"name": name, "file": str(file)})
        return {"outputs": files}

    def weigh(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"peak": memory("VmHWM"), "before": self.before, "library": mapped_below(self.vendor.FOLDER)}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        deeds = {"open": self.open, "run": self.run, "show": self.show, "weigh": self.weigh}
        try:
            return deeds[request["request"]](request)
        except Exception as error:  # runtimes raise all classes of exceptions
            unsupported = isinstance(error, getattr(self.vendor, "UNSUPPORTED", ()))
            text = f"{type(error).__name__}: {error}"[:2000]
            return {"error": text, "kind": "unsupported" if unsupported else "error"}


def receive(stream: BinaryIO) -> dict[str, Any] | None:
    head = stream.read(8)
    size = int.from_bytes(head, "little")
    data = stream.read(size) if len(head) == 8 else b""
    return json.loads(data) if len(head) == 8 and len(data) == size else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runtime", required=True)
    runtime = parser.parse_args().runtime
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # prints of a runtime are no messages
    sys.path[0] = str(Path(__file__).resolve().parents[2])  # not this folder: its modules have generic names
    worker = Worker(runtime)
    questions = os.fdopen(0, "rb")
    while (request := receive(questions)) is not None:
        data = json.dumps(worker.answer(request)).encode()
        answers.write(len(data).to_bytes(8, "little") + data)
        answers.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
