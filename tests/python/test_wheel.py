"""The wheel: packed from build/ without a second compile, installed in an empty environment, and run there."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.python import models
from tests.python.built import BUILD, PACKAGES, ROOT

pytestmark = pytest.mark.skipif(BUILD.resolve() != ROOT / "build", reason="pip takes the package from build/")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def pip(*words: object) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--wheel-dir", folder, ".")
    (path,) = folder.glob("*.whl")
    return path


def test_it_holds_what_the_build_made(wheel: Path) -> None:
    version = re.search(r"project\(touchstone VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    assert wheel.name.startswith(f"touchstone_onnx-{version}-cp311-cp311-linux_")
    built = {
        path.relative_to(PACKAGES).as_posix(): path
        for path in (PACKAGES / "touchstone").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as held:
        packed = {name for name in held.namelist() if ".dist-info/" not in name}
        assert packed == set(built)
        assert all(held.read(name) == path.read_bytes() for name, path in built.items())


def test_the_library_is_small_and_stands_on_little(tmp_path: Path) -> None:
    """The library, with kernels of three instruction sets, has under 20 MB and needs only Debian's libraries."""
    (library,) = (PACKAGES / "touchstone").glob("_native*.so")

    def told(*command: object) -> str:
        return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True).stdout

    told("strip", "--strip-unneeded", "-o", tmp_path / "stripped.so", library)
    assert (tmp_path / "stripped.so").stat().st_size < 20e6
    needed = re.findall(r"\(NEEDED\).*\[(.+?)\.so", told("readelf", "--dynamic", "--wide", library))
    compiler = {"libstdc++", "libm", "libgcc_s", "libc", "ld-linux-x86-64"}
    codecs = {"libjpeg", "libpng16", "libtiff", "libwebp", "libopenjp2", "libz"}
    assert "libc" in needed
    assert set(needed) <= compiler | codecs | {"libprotobuf-lite", "libre2", "libutf8proc"}
    taken = told("nm", "--dynamic", "--undefined-only", library).split()
    assert any(name.startswith("malloc@") for name in taken)
    sockets = {"socket", "connect", "bind", "listen", "accept", "getaddrinfo", "gethostbyname", "sendto", "recvfrom"}
    assert not {name.split("@")[0] for name in taken} & sockets
    inside = library.read_bytes()
    assert b"avx512" in inside
    assert not [word for word in (b"4llvm", b"5boost", b"LLVM ERROR") if word in inside]


def test_it_runs_where_nothing_else_is(wheel: Path, tmp_path: Path) -> None:
    pip("install", "--quiet", "--no-index", "--no-deps", "--target", tmp_path / "site", wheel)
    (tmp_path / "model.onnx").write_bytes(models.NETWORK)
    text = f"""
import sys
sys.path.insert(0, {str(tmp_path / "site")!r})
import importlib.metadata, numpy, touchstone
assert touchstone.__file__.startswith({str(tmp_path)!r})
assert importlib.metadata.version("touchstone-onnx") == touchstone.__version__
outputs = touchstone.InferenceSession("model.onnx").run(None, {{"x": numpy.ones((2, 3, 16, 16), numpy.float32)}})
print([output.shape for output in outputs])
"""
    done = subprocess.run([sys.executable, "-I", "-c", text], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.stdout.strip(), done.stderr) == ("[(2, 8, 16, 16), (2, 8)]", "")


def test_tools_and_libraries_are_the_pinned_ones() -> None:
    pinned = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    (tool,) = PROJECT["build-system"]["requires"]
    assert re.search(rf"^{re.escape(tool)} ", pinned, re.MULTILINE)
    for library in [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["backend"]]:
        name, least = library.split(">=")
        (has,) = re.findall(rf"^{name}==([0-9.]+) ", pinned, re.MULTILINE)
        assert tuple(map(int, has.split("."))) >= tuple(map(int, least.split(".")))
