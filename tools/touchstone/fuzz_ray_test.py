"""Tests `touchstone fuzz --ray`: clusters on this machine, and the driver's parts without Ray."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fuzz.ray_driver import Job, Shard, digest_of, read_files, write_files

ROOT = Path(__file__).resolve().parents[2]
COMMAND = Path(os.environ.get("TOUCHSTONE_BUILD", "build")).resolve() / "touchstone"
PYTHON = ROOT / ".venv-ray" / "bin" / "python"
needs_ray = pytest.mark.skipif(not PYTHON.exists(), reason="Ray is not installed: tools/setup.sh ray")

# Negates, slowly while a file "slow" is there, with a fault for each size of the last extent; one kills the process.
TARGET = """
import os, signal, time
import numpy as np
import onnx

class Slow:
    def load(self, model, options):
        return onnx.ModelProto.FromString(model).graph.node[0]
    def run(self, node, feeds):
        if os.path.exists("slow"):
            time.sleep(0.3)
        (x,) = feeds.values()
        last = x.shape[-1] if x.ndim else 0
        if last == 10:
            os.kill(os.getpid(), signal.SIGSEGV)
        return {node.output[0]: np.asarray(-x[..., :4] if last == 5 else -x)}
"""
WORDS = ["fuzz", "--target", "python:slow:Slow", "--level", "lines", "--ops", "Neg-13", "--no-reduce", "--count", "240"]

# Two machines with a worker each: prints the address, loses the second when it is told to, and says when it has.
CLUSTER = """
import sys
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
second = cluster.add_node(num_cpus=1)
print(cluster.address, flush=True)
sys.stdin.readline()
cluster.remove_node(second, allow_graceful=False)
print("lost", flush=True)
sys.stdin.readline()
cluster.shutdown()
"""


def touchstone(folder: Path, *words: object, **environment: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    command = [str(COMMAND), *map(str, words)]
    return subprocess.Popen(
        command, cwd=folder, env=os.environ | environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


def ended(running: subprocess.Popen[str], code: int) -> tuple[str, str]:
    out, errors = running.communicate(timeout=1500)
    assert running.returncode == code, errors
    return out, errors


def result(text: str) -> dict:
    state = json.loads(text)
    for campaign in state["campaigns"]:
        del campaign["seconds"], campaign["growth"], campaign["shards"]
    return state


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("ray")
    (made / "slow.py").write_text(TARGET)
    return made


@pytest.fixture(scope="module")
def single(folder: Path) -> dict:
    """Returns the state of one single run."""
    out, _ = ended(touchstone(folder, *WORDS, "--dir", "single", "--json"), 1)
    state = result(out)
    assert {finding["outcome"]["verdict"] for finding in state["findings"]} == {"crash", "wrong-shape"}
    assert any("Segmentation fault" in finding["outcome"]["pattern"] for finding in state["findings"])
    return state


def shard_of(folder: Path, shard: str, running: subprocess.Popen[str]) -> int:
    """Waits until a shard's command has a state; returns its process."""
    while True:
        assert running.poll() is None, running.communicate()
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_text().split("\0")
                is_ours = shard in words and os.readlink(entry / "cwd") == str(folder)
            except OSError:
                continue
            if is_ours and (Path(words[words.index("--dir") + 1]) / "state.json").exists():
                return int(entry.name)
        time.sleep(0.1)


@contextmanager
def slow(folder: Path) -> Iterator[None]:
    (folder / "slow").touch()
    try:
        yield
    finally:
        (folder / "slow").unlink()


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


@needs_ray
def test_a_worker_that_is_killed_half_way_changes_nothing(folder: Path, single: dict) -> None:
    with slow(folder):
        running = touchstone(folder, *WORDS, "--ray", "local", "--workers", 2, "--dir", "killed", "--json")
        command = shard_of(folder, "1/2", running)
        os.kill(parent_of(command), signal.SIGKILL)
    out, errors = ended(running, 1)
    assert "shard 1/2: its worker is lost" in errors
    assert result(out) == single
    assert not Path(f"/proc/{command}").exists()
    for finding in single["findings"]:
        assert (folder / "killed" / "findings" / finding["hash"] / "model.onnx").exists()


@needs_ray
def test_ctrl_c_stops_with_130_and_resume_gives_the_same(folder: Path, single: dict) -> None:
    words = [*WORDS, "--ray", "local", "--workers", 2, "--dir", "stopped", "--json"]
    with slow(folder):
        running = touchstone(folder, *words)
        shard_of(folder, "0/2", running)
        os.killpg(running.pid, signal.SIGINT)
        _, errors = ended(running, 130)
    assert "--resume goes on where it was" in errors
    kept = json.loads((folder / "stopped" / "state.json").read_text())
    assert 0 < kept["campaigns"][0]["next"] < 240
    _, errors = ended(touchstone(folder, *words), 2)
    assert "holds a campaign already" in errors
    _, errors = ended(touchstone(folder, *words[:-4], 3, *words[-3:], "--resume"), 2)
    assert "holds another campaign" in errors
    out, _ = ended(touchstone(folder, *words, "--resume"), 1)
    assert result(out) == single


@pytest.fixture
def cluster() -> Iterator[tuple[str, Callable[[], None]]]:
    """A cluster's address, and what takes one of its two machines away."""
    pipe = subprocess.PIPE
    scratch = tempfile.mkdtemp(prefix="touchstone-ray-", dir="/tmp")
    running = subprocess.Popen(
        [PYTHON, "-c", CLUSTER],
        env=os.environ | {"RAY_TMPDIR": scratch},
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert running.stdin is not None and running.stdout is not None
    stdin, stdout = running.stdin, running.stdout

    def lose() -> None:
        stdin.write("\n")
        stdin.flush()
        assert stdout.readline() == "lost\n"

    address = running.stdout.readline().strip()
    assert address
    yield address, lose
    running.communicate("\n\n", timeout=300)
    shutil.rmtree(scratch)


@needs_ray
def test_a_machine_that_is_lost_changes_nothing(
    folder: Path, single: dict, cluster: tuple[str, Callable[[], None]]
) -> None:
    address, lose = cluster
    with slow(folder):
        running = touchstone(folder, *WORDS, "--ray", address, "--workers", 2, "--dir", "lost", "--json")
        workers = [parent_of(shard_of(folder, shard, running)) for shard in ("0/2", "1/2")]
        lose()
        while all(Path(f"/proc/{worker}").exists() for worker in workers):  # one ends soon after its machine
            assert running.poll() is None, running.communicate()
            time.sleep(0.1)
    out, errors = ended(running, 1)
    assert "its worker is lost" in errors
    assert result(out) == single


@needs_ray
def test_a_cluster_that_is_too_small_and_a_shard_that_fails_are_errors(
    folder: Path, cluster: tuple[str, Callable[[], None]]
) -> None:
    words = [*WORDS, "--ray", cluster[0], "--workers", 2, "--dir", "none"]
    _, errors = ended(touchstone(folder, *words, "--jobs", 2), 2)
    assert "no machine of the cluster offers 2 processors; the largest, 1" in errors
    (folder / "none").mkdir()
    (folder / "none" / "shard-1").symlink_to(folder / "single")
    _, errors = ended(touchstone(folder, *words, "--resume", "--seed", 3), 2)
    assert "shard 1/2 on" in errors and "holds another campaign" in errors


@needs_ray
@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:99999", "nowhere"])
def test_an_address_without_a_cluster_is_an_error(folder: Path, address: str) -> None:
    words = [*WORDS, "--ray", address, "--workers", 2, "--dir", "nowhere"]
    _, errors = ended(touchstone(folder, *words), 2)
    assert f"error[usage]: no Ray cluster answers at '{address}'" in errors


def test_without_ray_the_command_that_installs_it_is_named(folder: Path) -> None:
    words = [*WORDS, "--ray", "local", "--workers", 2, "--dir", "without"]
    _, errors = ended(touchstone(folder, *words, TOUCHSTONE_PYTHON=sys.executable), 4)
    assert f"which {sys.executable} does not have" in errors
    assert f"{ROOT}/tools/setup.sh ray installs it" in errors


def test_files_of_a_shard_are_its_state_and_findings(tmp_path: Path) -> None:
    source, to = tmp_path / "from", tmp_path / "to"
    assert read_files(source) == {}
    for name in ("state.json", "findings/1/model.onnx", "findings/1/reduced/model.onnx", "findings/2.new/half.onnx"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(name)
    files = read_files(source)
    assert set(files) == {"state.json", "findings/1/model.onnx", "findings/1/reduced/model.onnx"}
    write_files(to, files)
    assert read_files(to) == files
    (source / "state.json").unlink()
    assert read_files(source) == {}


def job(folder: Path, digest: str, *words: str) -> Job:
    command = (str(COMMAND), "fuzz", "--target", "fast", "--level", "lines", *words)
    return Job(command, digest, str(folder), {})


def test_a_shard_runs_on_from_its_files(tmp_path: Path) -> None:
    digest = digest_of(str(COMMAND))
    first = Shard().run(job(tmp_path, digest, "--count", "5"), {})
    assert (first.code, json.loads(first.files["state.json"])["campaigns"][0]["next"]) == (0, 5)
    shard = Shard()
    shard.stop()
    stopped = shard.run(job(tmp_path, digest, "--count", "9"), first.files)
    assert (stopped.code, stopped.files) == (130, first.files)
    second = Shard().run(job(tmp_path, digest, "--count", "9", "--shard", "0/2"), first.files)
    assert second.code == 2 and second.errors.startswith("error[usage]: ")
    other = Shard().run(job(tmp_path, "another", "--count", "9"), {})
    assert other.code == 2 and "does not have this very program" in other.errors
