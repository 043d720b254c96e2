"""Runs questions on the three runtimes: each takes a list and returns an answer for each question, even after a
crash."""

from __future__ import annotations

import json
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from onnx.reference import ReferenceEvaluator

from tools.probes.model import Answer, Held, Question, to_value

ROOT = Path(__file__).resolve().parents[2]
WORKER = ROOT / "tools" / "onnxruntime_worker.py"
TIMEOUT = 120.0
UNSUPPORTED = 4  # the command's exit code

Ask = Callable[[list[Question]], list[Answer]]


def reference(binary: Path) -> Ask:
    """Runs `touchstone run`, a process for each question."""

    def one(question: Question) -> Answer:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "model.onnx").write_bytes(question.model.SerializeToString())
            command: list[Any] = [binary, "run", folder / "model.onnx", "--output-dir", folder]
            for position, (feed, value) in enumerate(question.feeds.items()):
                (folder / f"input_{position}.pb").write_bytes(value)
                command += ["--input", f"{feed}={folder / f'input_{position}.pb'}"]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT)
            if done.returncode < 0 or done.returncode >= 70:
                return Answer("crash", why=done.stderr)
            if done.returncode != 0:
                return Answer("unsupported" if done.returncode == UNSUPPORTED else "error", why=done.stderr.strip())
            files = [folder / f"output_{k}.pb" for k in range(len(question.model.graph.output))]
            infos = question.model.graph.output
            values = [to_value(file.read_bytes(), info) for file, info in zip(files, infos, strict=True)]
            return Answer("outputs", values)

    def ask(questions: list[Question]) -> list[Answer]:
        with ThreadPoolExecutor(max_workers=2) as pool:
            return list(pool.map(one, questions))

    return ask


def evaluator(questions: list[Question]) -> list[Answer]:
    """Runs the standard's own evaluator, in this process."""
    return [_evaluate(question) for question in questions]


def _evaluate(question: Question) -> Answer:
    infos = {info.name: info for info in question.model.graph.input}
    feeds = {name: to_value(value, infos[name]) for name, value in question.feeds.items()}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            values = ReferenceEvaluator(question.model).run(None, feeds)
    except NotImplementedError as error:
        return Answer("unsupported", why=str(error))
    except Exception as error:  # the evaluator raises all classes of exceptions
        return Answer("error", why=f"{type(error).__name__}: {error}")
    return Answer("outputs", [as_texts(value) for value in values])


def as_texts(value: Any) -> Held:
    """Converts string arrays to object arrays, whatever width numpy chose."""
    if isinstance(value, list):
        return [np.asarray(as_texts(item)) for item in value]
    array = np.asarray(value)
    return array.astype(object) if array.dtype.kind in "US" else array


def onnxruntime(python: Path) -> Ask:
    """Runs ONNX Runtime in its own environment. If a question kills the process, another one continues with the
    next."""

    def ask(questions: list[Question]) -> list[Answer]:
        with tempfile.TemporaryDirectory() as name:
            jobs = [_write(question, Path(name) / str(k)) for k, question in enumerate(questions)]
            answers: list[Answer] = []
            while len(answers) < len(jobs):
                before = len(answers)
                done, ended = _work(python, jobs[before:])
                for line, question in zip(done.splitlines(), questions[before:], strict=False):
                    row, infos = json.loads(line), question.model.graph.output
                    read = zip(row["outputs"].values(), infos, strict=False)
                    arrays = [to_value(Path(file).read_bytes(), info) for file, info in read]
                    answers.append(Answer(row["kind"], arrays, row["why"]))
                if len(answers) < len(jobs):
                    answers.append(Answer("crash", why=ended))
            return answers

    return ask


def _work(python: Path, jobs: list[dict[str, Any]]) -> tuple[str, str]:
    """Runs the worker; returns its output and a description of its end."""
    command, said = [str(python), str(WORKER)], json.dumps(jobs)
    try:
        done = subprocess.run(command, input=said, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    except subprocess.TimeoutExpired as error:
        return (error.stdout or b"").decode(), f"no end after {TIMEOUT:.0f} s"
    if done.returncode > 0:
        raise RuntimeError(f"{python} does not run the worker: {done.stderr[-2000:]}")
    return done.stdout, f"signal {-done.returncode}"


def _write(question: Question, folder: Path) -> dict[str, Any]:
    folder.mkdir()
    (folder / "model.onnx").write_bytes(question.model.SerializeToString())
    feeds = {}
    for position, (name, value) in enumerate(question.feeds.items()):
        feeds[name] = str(folder / f"input_{position}.pb")
        Path(feeds[name]).write_bytes(value)
    return {"folder": str(folder), "feeds": feeds, "model": str(folder / "model.onnx")}


def describe(answer: Answer) -> str:
    return " ".join(answer.why.split())[:300]
