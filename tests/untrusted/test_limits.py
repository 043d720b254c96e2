"""Under --limits untrusted, each model ends in a result or in a limit that the error names.

A process of 1 GiB never runs out of memory, and none continues past its deadline.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from tests.codes.graphs import has_judge
from tests.untrusted import models

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
RUNTIMES = ("reference", "fast") if has_judge() else ("reference",)
SANITIZED = "-fsanitize=address" in (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
ADDRESS_SPACE = 1 << 30


def small_process() -> None:
    if not SANITIZED:  # the sanitizer's shadow memory takes terabytes of address space
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


def touchstone(*words: str | Path, timeout: int = 300) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"ASAN_OPTIONS": "hard_rss_limit_mb=1024"} if SANITIZED else None
    return subprocess.run(
        [BUILD / "touchstone", *words],
        env=environment,
        preexec_fn=small_process,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
        check=False,
    )


def saved(make: Callable[[], onnx.ModelProto], folder: Path) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(make().SerializeToString())
    return path


def limit_of(ran: subprocess.CompletedProcess[str]) -> str:
    """The limit that an error names; "" if the run ended without one."""
    told = f"exit {ran.returncode}\n{ran.stdout[-1000:]}\n{ran.stderr[-2000:]}"
    assert ran.returncode in (0, 3, 6), told
    if ran.returncode != 6:
        return ""
    named = re.match(r"error\[limit(?:/(\w+))?\]", ran.stderr)
    assert named, told
    return named[1] or "64 bits"


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("name", models.MEMORY)
def test_memory(name: str, runtime: str, tmp_path: Path) -> None:
    make, limits = models.MEMORY[name]
    words = ["--limits", "untrusted", "--runtime", runtime, "--threads", "2", "--random"]
    words += [] if "deadline" in limits else ["--deadline", "60m"]  # a busy machine must not end the run
    ran = touchstone("run", saved(make, tmp_path), *words)
    assert limit_of(ran) in (limits or {""}), ran.stderr


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("name", models.TIME)
def test_time(name: str, runtime: str, tmp_path: Path) -> None:
    make, limits = models.TIME[name]
    words = ["--limits", "untrusted", "--runtime", runtime, "--threads", "2", "--random", "--deadline", "3s"]
    ran = touchstone("run", saved(make, tmp_path), *words)
    assert limit_of(ran) in limits, ran.stderr


@pytest.mark.parametrize("name", [*models.MEMORY, *models.TIME])
def test_checking(name: str, tmp_path: Path) -> None:
    make, _ = (models.MEMORY | models.TIME)[name]
    ran = touchstone("check", saved(make, tmp_path), "--memory-limit", "512M", "--deadline", "20s")
    limit_of(ran)


def graph_of(fields: bytes) -> bytes:
    length, left = b"", len(fields)
    while left > 127:
        length, left = length + bytes([left & 127 | 128]), left >> 7
    return b"\x08\x0a\x3a" + length + bytes([left]) + fields + b"\x42\x02\x10\x15"


@pytest.mark.parametrize(("tag", "limit"), [(b"\x6a", "messages"), (b"\x2a", "messages"), (b"\x0a", "nodes")])
def test_messages_are_counted_before_one_is_built(tag: bytes, limit: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(graph_of((tag + b"\0") * 20_000_000))
    for words in (("check", path), ("run", path, "--limits", "trusted"), ("run", path, "--limits", "untrusted")):
        assert limit_of(touchstone(*words)) == limit


def test_an_array_of_items_without_bytes(tmp_path: Path) -> None:
    head = b"{'descr': '<U0', 'fortran_order': False, 'shape': (1073741824,), }"
    head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
    feed = tmp_path / "x.npy"
    feed.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
    one = models.model(
        [models.node("Size", ["x"], ["y"])], [], [models.value("x", models.STRING, ["n"])], result=models.INT64
    )
    ran = touchstone("run", saved(lambda: one, tmp_path), "--input", f"x={feed}", "--limits", "untrusted")
    assert limit_of(ran) in {"memory", "bytes"}


def test_what_fits_runs(tmp_path: Path) -> None:
    """Ten tensors of 64 MiB together fit a large limit, but not a smaller one."""
    path = saved(models.many_tensors, tmp_path)
    assert limit_of(touchstone("run", path, "--memory-limit", "900M")) == ""
    assert limit_of(touchstone("run", path, "--memory-limit", "600M")) == "memory"


def at_work(process: int) -> bool:
    """True if the process handles SIGINT and has used a second of CPU time."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])  # of user and system time
    caught = re.search(r"^SigCgt:\s*(\w+)$", Path(f"/proc/{process}/status").read_text(encoding="utf-8"), re.MULTILINE)
    return bool(caught and int(caught[1], 16) >> (signal.SIGINT - 1) & 1) and ticks >= os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("constant", [False, True])
def test_an_interrupt_ends_a_command(runtime: str, constant: bool, tmp_path: Path) -> None:
    path = saved(lambda: models.products(constant), tmp_path)
    words = ["run", path, "--random", "--runtime", runtime, "--threads", "2"]
    with subprocess.Popen([BUILD / "touchstone", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as ran:
        while ran.poll() is None and not at_work(ran.pid):
            os.sched_yield()
        ran.send_signal(signal.SIGINT)  # the run would take hours
        _, told = ran.communicate(timeout=300)
    assert ran.returncode == 130, told
    assert told.startswith(b"error[cancelled]: "), told


@pytest.mark.parametrize(
    ("option", "text"),
    [("--deadline", "0s"), ("--deadline", "soon"), ("--memory-limit", "-1"), ("--memory-limit", "2X")],
)
def test_amounts_that_are_none_are_refused(option: str, text: str, tmp_path: Path) -> None:
    ran = touchstone("run", saved(models.many_tensors, tmp_path), f"{option}={text}")
    assert ran.returncode == 2
    assert f"'{text}' is not" in ran.stderr
