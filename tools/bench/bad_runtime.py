"""Runtime that misbehaves on request, for tests of the bench: bad_runtime.py DEED [LOG NAME].

When it opens a model it writes to the log: its name, the names of earlier writers whose processes are alive, and if the
bench released its memory before this load.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

A_LOT = 64 << 20
FIRST_ROUND = 9  # a run of a reported sixteenth of a second warms up eight times


def held_by_the_bench() -> int:
    """Returns the resident bytes of the bench."""
    return int(Path("/proc", str(os.getppid()), "statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


class BadRuntime:
    """Doubles its only input, as the model of the tests does, with the requested fault."""

    def __init__(self, deed: str, log: str = "", name: str = ""):
        self.deed = deed
        self.log = Path(log) if log else None
        self.name = name
        self.sets: list[np.ndarray] = []
        self.ran: list[np.ndarray] = []
        self.blocks = 0
        self.held = 0

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"open": self.open, "run": self.run, "show": self.show, "weigh": self.weigh}[request["request"]](request)

    def tell(self, log: Path) -> None:
        told = [line.split() for line in log.read_text().splitlines()] if log.is_file() else []
        beside = "".join(name for name, process, *_ in told if Path("/proc", process).exists())
        with log.open("a") as file:
            given = self.held - held_by_the_bench() > A_LOT
            print(self.name, os.getpid(), f"beside:{beside}", f"given:{given}", file=file)

    def open(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.log:
            self.tell(self.log)
        if self.deed == "refuse":
            return {"error": "no kernel for it", "kind": "unsupported"}
        if self.deed == "fail":
            return {"error": "out of luck", "kind": "error"}
        self.sets = [np.load(files[0]["file"]) for files in request["input_sets"]]
        return {"version": "bad 0", "settings": self.deed, "seconds": 0.5}

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        self.blocks += 1
        if self.deed == "crash" and self.blocks == FIRST_ROUND:
            print("it hurts", file=sys.stderr)
            os.kill(os.getpid(), signal.SIGSEGV)
        if self.deed == "hang":
            signal.pause()
        sets = [0 for _ in request["sets"]] if self.deed == "remember" else request["sets"]
        self.ran = [2 * self.sets[which] for which in sets]
        if self.deed == "late-fault" and self.blocks == FIRST_ROUND:
            self.ran = [value + np.float32(0.25) for value in self.ran]
        times = {"short": [], "no-time": ["soon"] * len(sets), "negative": [-1.0] * len(sets)}
        return {"seconds": times.get(self.deed, [0.125 if self.deed == "slow" else 0.0625] * len(sets))}

    def show(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.deed == "silent":
            return {"outputs": []}
        file = Path(request["folder"]) / "y.npy"
        value = self.ran[request["run"]]
        np.save(file, value.astype(np.float64) if self.deed == "other-type" else value)
        return {"outputs": [{"name": "y", "file": str(file)}]}

    def weigh(self, request: dict[str, Any]) -> dict[str, Any]:
        self.held = held_by_the_bench()
        return {"peak": 3, "before": 2, "library": 1}


def main() -> None:
    runtime = BadRuntime(*sys.argv[1:])
    with os.fdopen(0, "rb", closefd=False) as questions, os.fdopen(1, "wb", closefd=False) as answers:
        while len(head := questions.read(8)) == 8:
            request = json.loads(questions.read(int.from_bytes(head, "little")))
            data = b"nonsense" if runtime.deed == "garble" else json.dumps(runtime.answer(request)).encode()
            answers.write(len(data).to_bytes(8, "little") + data)
            answers.flush()


if __name__ == "__main__":
    main()
