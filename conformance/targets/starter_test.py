"""Tests the process that starts workers, driven as the host drives it: forks, their ends, and what ends them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from conformance.targets import wire

ROOT = Path(__file__).resolve().parents[2]
ONNXRUNTIME = ROOT / ".venv-onnxruntime" / "bin" / "python"
SECONDS = 120  # for a busy machine
ABOUT = b"\x0a\x00"
TARGET = """
import os, threading

with open("imports", "a") as log:
    log.write("x")

class Mine:
    def __init__(self):
        self.version = "first"
        if {threads}:
            threading.Thread(target=threading.Event().wait, daemon=True).start()
"""


@dataclass
class Worker:
    process: int
    streams: socket.socket
    end: socket.socket
    printed: IO[bytes]

    def ask(self, question: bytes) -> bytes:
        self.streams.sendall(len(question).to_bytes(8, "little") + question)
        with self.streams.makefile("rb") as replies:
            return wire.receive(replies) or b""

    def status(self) -> int:
        return int.from_bytes(self.end.recv(4), sys.byteorder, signed=True)

    def is_alive(self) -> bool:
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return False
        return True


class Host:
    def __init__(self, python: str | Path, target: str, folder: Path, forks: bool):
        self.forks = forks  # what its starter is expected to do
        self.control, its = socket.socketpair()
        command = [python, ROOT / "conformance" / "targets" / "worker.py", "--target", target, "--starter"]
        self.starter = subprocess.Popen(list(map(str, command)), cwd=folder, stdin=its, stdout=its)
        its.close()

    def end(self) -> None:
        self.control.close()
        assert self.starter.wait(timeout=SECONDS) == 0

    def start(self) -> Worker:
        streams, its_streams = socket.socketpair()
        end, its_end = socket.socketpair()
        for each in (streams, end):
            each.settimeout(SECONDS)
        printed = tempfile.TemporaryFile()  # noqa: SIM115
        socket.send_fds(self.control, [b"x"], [its_streams.fileno(), printed.fileno(), its_end.fileno()])
        its_streams.close()
        its_end.close()
        return Worker(int.from_bytes(end.recv(4), sys.byteorder), streams, end, printed)


@pytest.fixture(params=[True, False], ids=["forks", "spawns"])
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Host]:
    """A host whose starter forks, or spawns as its runtime has a thread."""
    (tmp_path / "mine.py").write_text(TARGET.format(threads=not request.param), encoding="utf-8")
    made = Host(sys.executable, "python:mine:Mine", tmp_path, request.param)
    yield made
    made.end()


def is_fork(worker: Worker) -> bool:
    """True if its command line is that of the starter."""
    return b"--starter" in Path(f"/proc/{worker.process}/cmdline").read_bytes()


@pytest.mark.skipif(not ONNXRUNTIME.exists(), reason="onnxruntime is not installed")
def test_onnxruntime_has_no_thread_that_forbids_a_fork(tmp_path: Path) -> None:
    host = Host(ONNXRUNTIME, "onnxruntime:relabel=opset", tmp_path, forks=True)
    worker = host.start()
    assert b"onnxruntime" in worker.ask(ABOUT)
    assert is_fork(worker)
    host.end()


def test_workers_are_processes_of_their_own(host: Host, tmp_path: Path) -> None:
    workers = [host.start() for _ in range(3)]
    assert len({worker.process for worker in workers} | {host.starter.pid}) == 4
    assert all(b"first" in worker.ask(ABOUT) for worker in workers)
    assert all(os.getpgid(worker.process) == worker.process for worker in workers)
    imports = len((tmp_path / "imports").read_text(encoding="utf-8"))
    assert imports == (1 if host.forks else 4)
    assert [is_fork(worker) for worker in workers] == [host.forks] * 3


def test_an_end_is_reported_and_others_go_on(host: Host) -> None:
    first, second, third = (host.start() for _ in range(3))
    assert first.ask(ABOUT)
    first.streams.close()  # no more questions
    assert first.status() == 0
    assert third.ask(ABOUT)
    os.kill(third.process, signal.SIGSEGV)
    assert os.WTERMSIG(third.status()) == signal.SIGSEGV
    assert third.end.recv(4) == b""
    assert second.ask(ABOUT)
    assert host.start().ask(ABOUT)


def test_the_host_kills_a_worker_that_answers_nothing(host: Host) -> None:
    worker = host.start()
    assert worker.ask(ABOUT)
    os.kill(worker.process, signal.SIGSTOP)
    worker.end.shutdown(socket.SHUT_WR)
    assert os.WTERMSIG(worker.status()) == signal.SIGKILL
    assert not worker.is_alive()
    assert host.start().ask(ABOUT)


def test_a_worker_dies_with_its_host(host: Host) -> None:
    worker = host.start()
    assert worker.ask(ABOUT)
    os.kill(worker.process, signal.SIGSTOP)
    worker.end.close()
    while worker.is_alive():
        os.sched_yield()
    assert host.start().ask(ABOUT)


def test_workers_die_with_the_starter(host: Host) -> None:
    workers = [host.start() for _ in range(2)]
    assert all(worker.ask(ABOUT) for worker in workers)
    host.control.close()
    assert host.starter.wait(timeout=SECONDS) == 0
    assert all(worker.streams.recv(1) == b"" for worker in workers)


def test_what_a_worker_prints_is_its_own(host: Host) -> None:
    first, second = host.start(), host.start()
    first.streams.sendall((1).to_bytes(8, "little") + b"\x03")  # no question
    assert os.WEXITSTATUS(first.status()) == 1
    first.printed.seek(0)
    assert b"Error" in first.printed.read()
    assert second.ask(ABOUT)
    second.printed.seek(0)
    assert second.printed.read() == b""
