"""Runs the shards of a campaign on a Ray cluster: one actor for each, which runs `touchstone fuzz` on its machine.

    python ray_driver.py --ray local|ADDRESS --workers N --dir DIR [--cpus N] [--quiet] -- touchstone fuzz WORDS

Shard K's folder is DIR/shard-K, on this machine: a shard begins with the files there, and they are renewed while it
runs. A shard whose worker is lost begins again from them. SIGINT stops all shards. `touchstone fuzz --ray` starts this
program and merges the folders. Standard output gets what went wrong, then help. Exit codes are those of touchstone.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Files = dict[str, bytes]  # by path within a shard's folder

STATE = "state.json"
USAGE, UNSUPPORTED, CRASHED, INTERRUPTED = 2, 4, 5, 130  # exit codes
MAX_LOST = 5  # workers of one shard
PAUSE = 20.0  # seconds between two looks at a shard's files
CONNECTING = 10.0  # seconds
GRACE = 60.0  # seconds that shards may take to stop
PR_SET_PDEATHSIG = 1
LIBC = "libc.so.6"


class FailedError(Exception):
    """The campaign cannot go on: exit code, what is wrong, help."""

    def __init__(self, code: int, what: str, help_line: str = ""):
        super().__init__(what)
        self.code, self.what, self.help_line = code, what, help_line


@dataclass(frozen=True)
class Job:
    """Command of a shard, without --dir and --resume, and what it needs from the machine."""

    command: tuple[str, ...]
    digest: str  # of the program
    folder: str  # working directory, if the machine has it
    environment: dict[str, str]
    scratch: str | None = None  # where its folder lies, if the machine has that


@dataclass(frozen=True)
class Ended:
    """Exit code, last error and files of a shard."""

    code: int
    errors: str
    files: Files


def digest_of(program: str) -> str:
    with open(program, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_files(folder: Path) -> Files:
    """Returns a shard's state and findings; {} where it has none yet, or replaces one at this moment."""
    try:
        files = {STATE: (folder / STATE).read_bytes()}  # first: a state's findings are written before it
        for path in sorted((folder / "findings").rglob("*")):
            name = path.relative_to(folder)
            if path.is_file() and not any(part.endswith(".new") for part in name.parts):
                files[str(name)] = path.read_bytes()
    except OSError:
        return {}
    return files


def write_files(folder: Path, files: Files) -> None:
    """Writes the state last, so that its findings are always there."""
    for name in sorted(files, key=lambda one: one == STATE):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(path.name + ".new")
        new.write_bytes(files[name])
        new.replace(path)


def summary(files: Files) -> str:
    """Returns "120 cases, 3 findings" of a shard's state."""
    state = json.loads(files[STATE])
    cases = sum(campaign["cases"] for campaign in state["campaigns"])
    return f"{cases} cases, {len(state['findings'])} findings"


class Shard:
    """Runs one shard. Ray creates it in a worker process, whose end ends the command."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.is_stopped = False
        self.folder: Path | None = None  # while it runs

    def host(self) -> str:
        return socket.gethostname()

    def run(self, job: Job, files: Files) -> Ended:
        """Runs the command on from the given files until it ends."""
        program = job.command[0]
        if not Path(program).is_file() or digest_of(program) != job.digest:
            return Ended(USAGE, f"error: {self.host()} does not have this very program at '{program}'", {})
        within = job.scratch if job.scratch and Path(job.scratch).is_dir() else None
        with tempfile.TemporaryDirectory(prefix="touchstone-fuzz-", dir=within, ignore_cleanup_errors=True) as folder:
            return self._run_in(Path(folder), job, files)

    def _run_in(self, folder: Path, job: Job, files: Files) -> Ended:
        write_files(folder, files)
        command = [*job.command, "--dir", str(folder), "--resume"]
        set_property = ctypes.CDLL(LIBC).prctl

        def end_with_parent() -> None:
            set_property(PR_SET_PDEATHSIG, signal.SIGINT)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # Ray blocks it

        with self.lock:
            if self.is_stopped:
                return Ended(INTERRUPTED, "", files)
            self.folder = folder
            # A file: writing to a pipe without a reader would kill the command while it cleans up.
            errors = (folder / "errors").open("w+", errors="replace")
            self.process = subprocess.Popen(
                command,
                cwd=job.folder if Path(job.folder).is_dir() else folder,
                env=os.environ | job.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
                preexec_fn=end_with_parent,
            )
        while (code := self.poll()) is None:
            time.sleep(0.05)
        with errors:
            errors.seek(0)
            said = errors.read()
        return Ended(code, said[said.rfind("\nerror") + 1 :], read_files(folder))

    def poll(self) -> int | None:
        """Returns the exit code, if there is one; never while stop() signals the process, whose number ends with it."""
        with self.lock:
            return self.process.poll() if self.process else None

    def files(self) -> Files:
        return read_files(self.folder) if self.folder else {}

    def stop(self) -> None:
        """Interrupts the command, which keeps its state."""
        with self.lock:
            self.is_stopped = True
            if self.process is not None:
                self.process.send_signal(signal.SIGINT)


class Runs:
    """The shards that run, and what is done when one ends or is lost."""

    def __init__(self, ray: Any, args: argparse.Namespace, scratch: str):
        self.ray, self.args, self.scratch = ray, args, scratch
        self.count: int = args.workers
        self.actor = ray.remote(num_cpus=args.cpus, max_concurrency=3, scheduling_strategy="SPREAD")(Shard)
        environment = {name: value for name, value in os.environ.items() if name.startswith("TOUCHSTONE_")}
        self.digest, self.environment = digest_of(args.command[0]), environment
        self.running: dict[Any, tuple[int, Any, Any]] = {}  # result -> shard, its actor, the machine's name
        self.lost = [0] * self.count
        self.was_stopped = False

    def folder(self, shard: int) -> Path:
        return Path(self.args.dir) / f"shard-{shard}"

    def say(self, shard: int, what: str) -> None:
        if not self.args.quiet:
            print(f"shard {shard}/{self.count}: {what}", file=sys.stderr, flush=True)

    def start(self, shard: int) -> None:
        command = (*self.args.command, "--shard", f"{shard}/{self.count}")
        job = Job(command, self.digest, os.getcwd(), self.environment, self.scratch)
        actor = self.actor.remote()
        result = actor.run.remote(job, read_files(self.folder(shard)))
        self.running[result] = (shard, actor, actor.host.remote())

    def run(self, stop: threading.Event) -> None:
        """Runs all shards until they end, or until `stop` is set and they have stopped."""
        for shard in range(self.count):
            self.start(shard)
        looked, stopped_at = time.monotonic(), 0.0
        while self.running:
            for result in self.ray.wait(list(self.running), timeout=0.2)[0]:
                self.end(result, *self.running.pop(result))
            now = time.monotonic()
            if stop.is_set() and not self.was_stopped:
                self.was_stopped, stopped_at = True, now
                self.stop()
            if self.was_stopped and now - stopped_at > GRACE:
                return
            if now - looked > PAUSE:
                self.look()
                looked = time.monotonic()

    def end(self, result: Any, shard: int, actor: Any, host: Any) -> None:
        try:
            ended = self.ray.get(result)
            where = self.ray.get(host)
        except self.ray.exceptions.RayTaskError as error:
            raise FailedError(CRASHED, f"shard {shard}/{self.count}: {error.cause!r}") from error
        except self.ray.exceptions.RayError as error:
            self.lose(shard, actor, type(error).__name__)
            return
        self.ray.kill(actor)
        write_files(self.folder(shard), ended.files)
        if ended.code < 0 or (ended.code == INTERRUPTED and not self.was_stopped):
            self.lose(shard, actor, f"the command ended with {ended.code} on {where}")
        elif ended.code in (0, 1, INTERRUPTED):
            how = "stopped" if ended.code == INTERRUPTED else "ended"
            self.say(shard, f"{how} on {where}" + (f" after {summary(ended.files)}" if ended.files else ""))
        else:
            lines = ended.errors.strip().splitlines() or [f"the command ended with {ended.code}"]
            raise FailedError(ended.code, f"shard {shard}/{self.count} on {where}: {lines[0]}")

    def lose(self, shard: int, actor: Any, why: str) -> None:
        """Starts a shard again whose worker is lost."""
        self.ray.kill(actor)
        if self.was_stopped:
            return
        self.lost[shard] += 1
        if self.lost[shard] == MAX_LOST:
            raise FailedError(CRASHED, f"shard {shard}/{self.count} lost {MAX_LOST} workers; the last: {why}")
        self.say(shard, f"its worker is lost ({why}); it runs again")
        self.start(shard)

    def stop(self) -> None:
        """Tells running shards to stop, and drops those that wait for a free worker."""
        for result, (_, actor, host) in list(self.running.items()):
            if self.ray.wait([host], timeout=0)[0]:
                actor.stop.remote()
            else:
                self.ray.kill(actor)
                del self.running[result]

    def look(self) -> None:
        """Copies the files of all running shards to this machine."""
        asked = {actor.files.remote(): shard for shard, actor, _ in self.running.values()}
        for answer in self.ray.wait(list(asked), num_returns=len(asked), timeout=PAUSE)[0] if asked else []:
            try:
                files = self.ray.get(answer)
            except self.ray.exceptions.RayError:
                continue  # the shard's own result tells that it is lost
            if files:
                write_files(self.folder(asked[answer]), files)
                self.say(asked[answer], summary(files))


def connect(ray: Any, args: argparse.Namespace, scratch: str) -> None:
    """Starts a cluster on this machine, or joins the one at the address."""
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": True}
    if args.ray == "local":
        cpus = args.workers * args.cpus
        ray.init("local", num_cpus=cpus, include_dashboard=False, _temp_dir=scratch, **options)
        return
    try:
        host, _, port = args.ray.rpartition(":")
        if host and port.isdigit():  # Ray itself would wait for it for hours
            socket.create_connection((host.rpartition("/")[2], int(port)), timeout=CONNECTING).close()
        ray.init(args.ray, **options)
    except (OSError, ValueError, RuntimeError, OverflowError) as error:
        said = (str(error).splitlines() or [""])[0]
        raise FailedError(USAGE, f"no Ray cluster answers at '{args.ray}': {said}") from error
    most = max(node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"])
    if most < args.cpus:
        raise FailedError(USAGE, f"no machine of the cluster offers {args.cpus} processors; the largest, {most:.0f}")


def run(args: argparse.Namespace) -> int:
    stop = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        import ray
    except ImportError as error:
        own = Path(__file__).resolve().parents[1] / "tools" / "setup.sh"
        install = f"{own} ray" if own.exists() else f"{sys.executable} -m pip install 'touchstone-onnx[ray]'"
        what = f"--ray needs Ray, which {sys.executable} does not have"
        raise FailedError(UNSUPPORTED, what, f"{install} installs it") from error
    # Ray's sockets have to be below this folder, in paths of at most 107 bytes
    with tempfile.TemporaryDirectory(prefix="touchstone-ray-", dir="/tmp", ignore_cleanup_errors=True) as scratch:
        try:
            connect(ray, args, scratch)
            runs = Runs(ray, args, scratch)
            runs.run(stop)
        finally:
            ray.shutdown()
    return INTERRUPTED if runs.was_stopped else 0


def main() -> int:
    ctypes.CDLL(LIBC).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # Ray's processes end with this one
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ray", required=True, help="local, or a cluster's address")
    parser.add_argument("--workers", type=int, required=True, help="shards")
    parser.add_argument("--cpus", type=int, default=1, help="processors of each shard")
    parser.add_argument("--dir", required=True, help="folder of the shards' folders")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("command", nargs="+", help="command of every shard")
    try:
        return run(parser.parse_args())
    except FailedError as error:
        print(error.what, error.help_line, sep="\n", flush=True)
        return error.code


if __name__ == "__main__":
    sys.exit(main())
