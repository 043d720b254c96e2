"""A release of the sources is configured without Python and Halide, and holds the library alone."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from tools.tarball import ROOT, pack, version

BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
CMAKE = str(ROOT / ".venv" / "bin" / "cmake")
pytestmark = pytest.mark.skipif(BUILD.resolve() != ROOT / "build", reason="a release takes its kernels from build/")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    packed = pack(folder)
    assert packed.name == f"touchstone-{version()}.tar.gz"
    assert packed.read_bytes() == pack(folder / "again").read_bytes()
    with tarfile.open(packed) as tar:
        tar.extractall(folder)
    return folder / packed.name.removesuffix(".tar.gz")


def configure(release: Path, build: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Configures where no interpreter of Python is on the path."""
    command = [CMAKE, "-S", str(release), "-B", str(build), *options]
    where = {"PATH": "/usr/bin:/bin", "HOME": str(build.parent)}
    return subprocess.run(command, env=where, capture_output=True, text=True, check=False, timeout=300)


def test_it_is_configured_without_python_and_halide(release: Path, tmp_path: Path) -> None:
    done = configure(release, tmp_path / "build")
    assert done.returncode == 0, done.stdout + done.stderr
    cache = (tmp_path / "build" / "CMakeCache.txt").read_text(encoding="utf-8")
    assert "Python3" not in cache
    assert "Halide_DIR" not in cache
    commands = "".join(file.read_text(encoding="utf-8") for file in (tmp_path / "build").rglob("build.make"))
    assert "-m codegen.emit_kernels" in commands
    assert "python" not in {Path(word).name for line in commands.splitlines() for word in line.split()[:1]}


def test_it_refuses_what_it_does_not_hold(release: Path, tmp_path: Path) -> None:
    done = configure(release, tmp_path / "build", "-DTOUCHSTONE_TESTS=ON")
    assert done.returncode != 0
    assert "a release holds the library alone" in done.stderr
    names = [file.relative_to(release).as_posix() for file in release.rglob("*") if file.is_file()]
    assert not [name for name in names if name.split("/")[0] in ("tests", "conformance", "fuzz", "tools", "python")]
    assert not [name for name in names if name.endswith(("_test.cc", "_test.py"))]
