"""Worker process of every target written in Python; `conform` starts it in the target's own environment.

It serves target.proto on its standard streams, one process for many cases. The class that it serves contains all code
of the runtime.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import importlib
import os
import resource
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any, BinaryIO

ROOT = Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT)  # not this folder: its modules have generic names
if "--starter" in sys.argv:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a process with threads is not forked

from conformance.targets import values, wire  # noqa: E402
from conformance.targets.starter import Starter  # noqa: E402
from conformance.targets.target import TargetError  # noqa: E402
from conformance.targets.wire import Answer, Fault, Job, Kind, Output, Phase  # noqa: E402

SHIPPED = {
    "onnxruntime": "conformance.targets.vendors.onnxruntime:OnnxRuntime",
    "openvino": "conformance.targets.vendors.openvino:OpenVino",
    "tvm": "conformance.targets.vendors.tvm:Tvm",
    "tract": "conformance.targets.vendors.tract:Tract",
    "onnx-reference": "conformance.targets.vendors.onnx_reference:OnnxReference",
    "backend": "conformance.targets.vendors.backend:AnyBackend",
}
MAX_PRINTED = 64 << 20  # bytes
LONG_RUN = 2.0  # seconds from which a run is not repeated: small cases of the same operators detect differences too


class Spec:
    """Target specification NAME[:ARGUMENT...][:key=value...], as typed after --target."""

    def __init__(self, text: str):
        self.name, *rest = text.split(":")
        self.arguments = [part for part in rest if "=" not in part]
        self.options = dict(part.split("=", 1) for part in rest if "=" in part)
        self.options.pop("python", None)  # used already, to choose this interpreter

    def make(self) -> Any:
        """Creates the target's class, with the arguments given after its name."""
        if self.name == "python":
            if len(self.arguments) != 2:
                raise ValueError("the target is python:MODULE:CLASS")
            sys.path.insert(0, os.getcwd())
            module, name = self.arguments
            return getattr(importlib.import_module(module), name)()
        module, name = SHIPPED[self.name].split(":")
        return getattr(importlib.import_module(module), name)(*self.arguments)


def become_worker(memory: int) -> BinaryIO:
    """Prepares the process and returns the stream for answers.

    Prints go to standard error, and the process dies with its host.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_PRINTED, MAX_PRINTED))
    if memory > 0:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    return answers


def fault_of(error: BaseException) -> Fault:
    for name in ("fault", "touchstone_fault"):
        said = getattr(error, name, None)
        if isinstance(said, Fault):
            return said
        if isinstance(said, str) and said.upper() in Fault.__members__:
            return Fault[said.upper()]
    if isinstance(error, MemoryError):
        return Fault.OUT_OF_MEMORY
    return Fault.INTERNAL


def fed(graph: Any, files: int) -> list[Any]:
    """Returns the inputs of the files: all inputs, or only those without a default."""
    ports = list(graph.input)
    defaults = {each.name for each in graph.initializer} | {each.values.name for each in graph.sparse_initializer}
    bare = [port for port in ports if port.name not in defaults]
    if files > len(ports):
        raise ValueError(f"the case has {files} inputs, its model only {len(ports)}")
    return (bare if files <= len(bare) else ports)[:files]


class Worker:
    def __init__(self, spec: Spec):
        self.spec = spec
        self.target = spec.make()
        way = spec.options.pop("relabel", None)
        self.stamp = None
        if way is not None:
            from conformance.targets.relabel import Stamp

            self.stamp = Stamp(self.target, spec.options, way)

    def description(self) -> bytes:
        return wire.description(self.spec.name, str(getattr(self.target, "version", "")))

    def run(self, job: Job, answers: BinaryIO) -> Answer:
        said = Answer()
        try:
            self.run_into(said, job, answers)
        except Exception as error:
            said.kind, said.outputs, said.fault = Kind.REFUSED, [], fault_of(error)
            foreign = said.fault == Fault.INTERNAL and not isinstance(error, TargetError)
            said.detail = f"{type(error).__name__}: {error}" if foreign else str(error)
        return said

    def run_into(self, said: Answer, job: Job, answers: BinaryIO) -> None:
        def enter(phase: Phase) -> None:
            said.phase = phase
            wire.send(answers, wire.reached(phase))

        import onnx

        enter(Phase.FEED)  # reading the file is the worker's work
        data = Path(job.model).read_bytes()
        model = onnx.ModelProto.FromString(data)
        if self.stamp is not None:
            said.note = self.stamp.down(model)
            data = model.SerializeToString() if said.note else data
        enter(Phase.LOAD)
        loaded = self.target.load(data, self.spec.options | {"path": job.model})
        enter(Phase.FEED)
        ports = fed(model.graph, len(job.inputs))
        files = [Path(file).read_bytes() for file in job.inputs]
        feeds = {port.name: values.read(file, port.type) for port, file in zip(ports, files, strict=True)}
        enter(Phase.RUN)
        types = {each.name: each.type for each in model.graph.output}
        began = time.monotonic()
        said.outputs = written(self.target.run(loaded, dict(feeds)), types)
        said.kind = Kind.OUTPUTS
        runs = job.runs if time.monotonic() - began < LONG_RUN else 1
        for k in range(max(runs, 1)):
            if k > 0 and (what := difference(said.outputs, written(self.target.run(loaded, dict(feeds)), types))):
                said.kind, said.detail = Kind.DIFFERED, f"run {k + 1} on the same inputs gave {what}"
                return
            for port, file in zip(ports, files, strict=True):
                if not values.same(feeds[port.name], values.read(file, port.type)):
                    said.kind = Kind.WROTE_INPUT
                    said.detail = f"input '{port.name}' is not what it was before the run"
                    return


def written(outputs: Any, types: dict[str, Any]) -> list[Output]:
    """Serializes outputs. An output that is no value is sent with a type that the standard lacks."""
    if not isinstance(outputs, dict):
        raise TypeError(f"run() gave a {type(outputs).__name__}, not a dict of outputs")
    made = []
    for name, value in outputs.items():
        try:
            kind, data = values.write(value, types.get(name))
        except values.NoValueError as error:
            kind, data = error.type, b""
        made.append(Output(str(name), kind, data))
    return made


def difference(first: list[Output], later: list[Output]) -> str:
    if [one.name for one in first] != [one.name for one in later]:
        return "other outputs"
    changed = [a.name for a, b in zip(first, later, strict=True) if (a.type, a.value) != (b.type, b.value)]
    return f"another '{changed[0]}'" if changed else ""


def serve(worker: Worker, answers: BinaryIO) -> int:
    """Answers the questions on standard input until its end."""
    questions = os.fdopen(0, "rb")
    while (question := wire.receive(questions)) is not None:
        job = wire.read_question(question)
        if job is None:
            wire.send(answers, worker.description())
        else:
            wire.send(answers, wire.answer(worker.run(job, answers)))
            gc.collect()  # frees a case's sessions before the next case
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", required=True)
    parser.add_argument("--memory", type=int, default=0, help="bytes of data that the process may have")
    parser.add_argument("--starter", action="store_true", help="start workers by fork instead of being one")
    arguments = parser.parse_args()
    answers = become_worker(arguments.memory)
    warnings.simplefilter("ignore")  # they would displace the last error message
    try:
        worker = Worker(Spec(arguments.target))
    except Exception as error:
        where = f" in {sys.executable}" if isinstance(error, ModuleNotFoundError) else ""
        print(f"{type(error).__name__}: {error}{where}", file=sys.stderr)
        return 7
    gc.freeze()  # excludes imported modules from the collection after each case
    if not arguments.starter:
        return serve(worker, answers)
    answers.close()
    command = [sys.executable, *(word for word in sys.orig_argv[1:] if word != "--starter")]
    return Starter(lambda: serve(worker, become_worker(arguments.memory)), command).run()


if __name__ == "__main__":
    sys.exit(main())
