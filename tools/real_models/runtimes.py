"""Runs the two runtimes as child processes: the reference by the command, ONNX Runtime in its own environment."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from tools.real_models.scenarios import Arrays

WORKER = Path(__file__).resolve().parents[1] / "onnxruntime_worker.py"
TIMEOUT = 1800.0


class RunError(Exception):
    """Runtime that did not finish; `code` is the exit code for the reason."""

    def __init__(self, message: str, code: int):
        super().__init__(message)
        self.code = code


def write_feeds(folder: Path, feeds: Arrays) -> dict[str, Path]:
    folder.mkdir(parents=True)
    files = {}
    for position, (name, value) in enumerate(feeds.items()):
        files[name] = folder / f"input_{position}.pb"
        files[name].write_bytes(numpy_helper.from_array(value, name).SerializeToString(deterministic=True))
    return files


def read_array(file: Path) -> np.ndarray:
    return numpy_helper.to_array(onnx.load_tensor(str(file)))


def child(command: list[Any], said: str = "", one_core: bool = False) -> tuple[subprocess.CompletedProcess[str], float]:
    """Runs to the end or to the time limit. Returns also its CPU seconds, which do not depend on other load."""

    def keep_to_one_core() -> None:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    began = spent_by_children()
    try:
        done = subprocess.run(
            [str(word) for word in command],
            input=said,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
            preexec_fn=keep_to_one_core if one_core else None,
        )
    except subprocess.TimeoutExpired as error:
        raise RunError(f"{command[0]} took over {TIMEOUT:.0f} s", 6) from error
    except OSError as error:
        raise RunError(f"{command[0]}: {error.strerror}", 7) from error
    return done, spent_by_children() - began


def spent_by_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def reason(done: subprocess.CompletedProcess[str]) -> str:
    said = done.stderr.strip() or done.stdout.strip()
    return said[-2000:] or f"it ended with {done.returncode} and said nothing"


@dataclass
class Reference:
    binary: Path

    def run(
        self, model: Path, feeds: dict[str, Path], out: Path, tap: Path | None = None, one_core: bool = False
    ) -> tuple[Arrays, float]:
        """Returns every output by name, and the CPU seconds of the whole command."""
        command: list[Any] = [self.binary, "run", model, "--output-dir", out, "--json", out / "run.json"]
        out.mkdir(parents=True)
        for name, file in feeds.items():
            command += ["--input", f"{name}={file}"]
        if tap:
            command += ["--tap", tap]
        done, seconds = child(command, one_core=one_core)
        if done.returncode != 0:
            code = done.returncode if done.returncode > 0 else 5
            raise RunError(f"the reference did not run {model.name}: {reason(done)}", code)
        outputs = json.loads((out / "run.json").read_text(encoding="utf-8"))["outputs"]
        return {row["name"]: read_array(out / f"output_{k}.pb") for k, row in enumerate(outputs)}, seconds

    def judge(self, model: Path, taps: Path, report: Path, sample_above: int) -> dict[str, Any]:
        """Judges all nodes; of nodes with more multiply-adds than `sample_above`, a sample is judged."""
        options = ["--sample-above", str(sample_above)]
        done, _ = child([self.binary, "judge", model, "--taps", taps, *options, "--json", report])
        if done.returncode not in (0, 1, 4) or not report.is_file():
            code = done.returncode if done.returncode > 0 else 70
            raise RunError(f"the judge did not come to its end on {model.name}: {reason(done)}", code)
        return json.loads(report.read_text(encoding="utf-8"))


@dataclass
class OnnxRuntime:
    python: Path
    version: str = "ONNX Runtime"

    def run(self, model: Path, feeds: dict[str, Path], out: Path, optimise: bool) -> tuple[Arrays, float]:
        """Returns every output by name, and the seconds of the run itself."""
        out.mkdir(parents=True, exist_ok=True)
        files = {name: str(file) for name, file in feeds.items()}
        options = {} if optimise else {"optimise": "no"}
        job = {"model": str(model), "feeds": files, "folder": str(out), "options": options}
        done, _ = child([self.python, WORKER], json.dumps([job]))
        if done.returncode != 0:
            raise RunError(f"ONNX Runtime did not run {model.name}: {reason(done)}", 5)
        said = json.loads(done.stdout)
        if said["kind"] != "outputs":
            raise RunError(f"ONNX Runtime did not run {model.name}: {said['why'][-2000:]}", 5)
        self.version = said["runtime"]
        made = {name: Path(file).name for name, file in said["outputs"].items()}
        (out / "values.json").write_text(json.dumps(files | made, indent=1), encoding="utf-8")
        return {name: read_array(out / file) for name, file in made.items()}, said["seconds"]
