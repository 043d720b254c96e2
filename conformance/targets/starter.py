"""Starts workers by fork: this process alone imports the runtime, and a fresh worker costs milliseconds.

It runs no case itself. A request on standard input is a byte with three descriptors: a socket for the worker's standard
streams, a file for what it prints, and a socket for its end. The latter gets the process number at once, and the status
of waitpid() after the end. The host's closing its half, or ending that half's output, kills the worker.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Running:
    process: int
    handle: int  # readable after the process has ended
    end: socket.socket


class Starter:
    """Forks `serve` for each request; a runtime that has threads cannot be forked, so then `command` is spawned."""

    def __init__(self, serve: Callable[[], int], command: list[str]):
        self.serve, self.command = serve, command
        self.control = socket.socket(fileno=os.dup(0))
        self.events = select.poll()
        self.events.register(self.control, select.POLLIN)
        self.by_handle: dict[int, Running] = {}
        self.by_end: dict[int, Running] = {}

    def run(self) -> int:
        """Serves until the host has gone."""
        while True:
            ready = self.events.poll()[0][0]  # one at a time, as each may close and reuse descriptors
            if ready in self.by_handle:
                self.reap(self.by_handle[ready])
            elif ready in self.by_end:
                self.kill(self.by_end[ready])
            elif not self.start_one():
                return 0

    def start_one(self) -> bool:
        byte, descriptors, _, _ = socket.recv_fds(self.control, 1, 3)
        if not byte:
            return False
        streams, printed, end = descriptors
        process = self.spawn(streams, printed) if has_threads() else self.fork(streams, printed, descriptors)
        os.close(streams)
        os.close(printed)
        one = Running(process, os.pidfd_open(process), socket.socket(fileno=end))
        self.by_handle[one.handle] = self.by_end[end] = one
        self.events.register(one.handle, select.POLLIN)
        self.events.register(end, select.POLLIN)
        say(one.end, process)
        return True

    def fork(self, streams: int, printed: int, descriptors: list[int]) -> int:
        starter = os.getpid()
        process = os.fork()
        if process != 0:
            return process
        code = 1
        try:
            os.setpgid(0, 0)
            os.dup2(streams, 0)
            os.dup2(streams, 1)
            os.dup2(printed, 2)
            for each in (self.control.fileno(), *descriptors, *self.by_handle, *self.by_end):
                os.close(each)
            if os.getppid() == starter:
                code = self.serve()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    def spawn(self, streams: int, printed: int) -> int:
        moves = [(os.POSIX_SPAWN_DUP2, source, to) for source, to in ((streams, 0), (streams, 1), (printed, 2))]
        return os.posix_spawn(self.command[0], self.command, os.environ, file_actions=moves, setpgroup=0)

    def kill(self, one: Running) -> None:
        """Kills a worker, which then still has to end."""
        del self.by_end[one.end.fileno()]
        self.events.unregister(one.end)
        kill_group(one.process)

    def reap(self, one: Running) -> None:
        """Reports an end, after that of all processes that the worker has started."""
        kill_group(one.process)  # before waitpid(), which frees the number
        _, status = os.waitpid(one.process, 0)
        say(one.end, status)
        if self.by_end.pop(one.end.fileno(), None):
            self.events.unregister(one.end)
        del self.by_handle[one.handle]
        self.events.unregister(one.handle)
        os.close(one.handle)
        one.end.close()


def say(end: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # the host may have gone
        end.send(number.to_bytes(4, sys.byteorder))


def kill_group(process: int) -> None:
    for kill, number in ((os.killpg, process), (os.kill, process)):  # also if it is not yet a group of its own
        try:
            kill(number, signal.SIGKILL)
        except ProcessLookupError:
            continue


def has_threads() -> bool:
    return len(os.listdir("/proc/self/task")) > 1
