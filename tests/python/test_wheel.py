"""The wheel: packed from build/ without a second compile, installed in an empty environment, and run there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.python import models
from tests.python.built import BUILD, ONNXRUNTIME, PACKAGES, ROOT
from tools.tarball import version
from tools.wheel import pack

pytestmark = pytest.mark.skipif(BUILD.resolve() != ROOT / "build", reason="pip takes the package from build/")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def pip(*words: object) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pack(tmp_path_factory.mktemp("wheel"))


def test_it_holds_what_the_build_made(wheel: Path) -> None:
    assert wheel.name == f"touchstone_onnx-{version()}-cp311-cp311-manylinux_2_34_x86_64.whl"
    built = {
        path.relative_to(PACKAGES).as_posix(): path
        for path in (PACKAGES / "touchstone").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as held:
        files = {name for name in held.namelist() if not name.endswith("/")}
        packed = {name for name in files if not re.search(r"\.(dist-info|libs)/", name)}
        command = {name for name in packed if name.startswith(("touchstone/bin/", "touchstone/share/"))}
        assert packed - command == set(built)
        assert all(held.read(name) == path.read_bytes() for name, path in built.items() if path.suffix != ".so")
        share = "touchstone/share/touchstone/"
        for name in command - {"touchstone/bin/touchstone"}:
            source = name.removeprefix(share)
            source = f"tools/touchstone/{source}" if source.startswith("schemas/") else source
            assert held.read(name) == (ROOT / source).read_bytes(), name
        lines = {path.relative_to(ROOT).as_posix() for path in (ROOT / "conformance/suites/spec").rglob("*.cases")}
        assert {share + line for line in lines} | {f"{share}schemas/conform.json"} <= command
        assert not [name for name in command if name.endswith(("_test.py", "bad_target.py"))]
        program = held.read("touchstone/bin/touchstone")
        assert str(ROOT).encode() + b"/" not in program
        assert b"/.venv/" not in program
    assert wheel.stat().st_size < 22e6


# Libraries that the policy manylinux_2_34 has every system provide.
PROVIDED = re.compile(r"lib(c|m|gcc_s|stdc\+\+|z|pthread|dl|rt)\.so\.\d+|ld-linux-x86-64\.so\.2")


def test_it_holds_the_libraries_that_it_links(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as held:
        held.extractall(tmp_path)
        licenses = {name.split("/")[-1] for name in held.namelist() if ".dist-info/licenses/" in name} - {""}
    libraries = {file.name: file for file in tmp_path.glob("touchstone_onnx.libs/*.so*")}
    linking = [*tmp_path.glob("touchstone/_native*.so"), tmp_path / "touchstone/bin/touchstone", *libraries.values()]
    for file in linking:
        dynamic = subprocess.run(["readelf", "-dW", file], capture_output=True, text=True, check=True).stdout
        needed = re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)
        assert needed or file.name.startswith("libjbig"), file.name
        missing = [name for name in needed if name not in libraries and not PROVIDED.fullmatch(name)]
        assert not missing, (file.name, missing)
    assert {"LICENSE", "libre2-9.txt", "libtiff6.txt"} <= licenses
    assert len(licenses) == len(libraries), "a license for each library but libjbig, and our own"
    (jbig,) = (file for name, file in libraries.items() if name.startswith("libjbig"))
    assert b"this package has no decoder of JBIG" in jbig.read_bytes()


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


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts' folder of an environment with the wheel in it, and ONNX Runtime's packages on its path."""
    folder = tmp_path_factory.mktemp("installed") / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=120)
    pip("--python", folder / "bin" / "python", "install", "--quiet", "--no-index", "--no-deps", wheel)
    (site,) = folder.glob("lib/python*/site-packages")
    (packages,) = ONNXRUNTIME.parent.parent.glob("lib/python*/site-packages")
    (site / "peer.pth").write_text(f"{packages}\n", encoding="utf-8")
    return folder / "bin"


def script(installed: Path, folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Runs the script `touchstone` with no other program on PATH than the environment's and the system's."""
    where = {"PATH": f"{installed}:/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder)}
    command = [str(installed / "touchstone"), *map(str, words)]
    return subprocess.run(command, cwd=folder, env=where, capture_output=True, text=True, timeout=300, check=False)


def test_the_script_is_the_whole_command(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(models.NETWORK)
    helped = script(installed, tmp_path, "--help").stdout
    names = re.findall(r"^  ([a-z]+) ", helped.split("Subcommands:")[1], re.MULTILINE)
    assert {"run", "check", "show", "judge", "conform", "optimize", "convert", "compare", "fuzz", "bench"} <= set(names)
    for words in (
        ["run", "model.onnx", "--random", "--output-dir", "out"],
        ["check", "model.onnx"],
        ["show", "model.onnx"],
        ["spec", "Clip"],
        ["optimize", "model.onnx", "-o", "better.onnx"],
        ["convert", "model.onnx", "--opset", "20", "-o", "other.onnx"],
        ["compare", "model.onnx", "--left", "reference", "--right", "fast", "--random"],
        ["fuzz", "--target", "fast", "--count", "20", "--dir", "state"],
    ):
        done = script(installed, tmp_path, *words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)


def test_a_suite_runs_on_a_peer_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    done = script(
        installed,
        tmp_path,
        "conform",
        "--target",
        "onnxruntime:relabel=opset",
        "--suite",
        "spec",
        "--filter",
        "Relu-14*",
        "--json",
    )
    (run,) = json.loads(done.stdout)["runs"]
    assert run["version"].startswith("1."), run["version"]
    assert run["summary"]["fail"] == run["summary"]["harness"] == 0
    assert run["summary"]["pass"] > 5
    assert [name.name for name in tmp_path.iterdir() if name.name.startswith("touchstone")] == []


def test_a_peer_that_is_not_installed_is_named_with_the_interpreter(installed: Path, tmp_path: Path) -> None:
    done = script(
        installed, tmp_path, "conform", "--target", "backend:missing_package", "--suite", "spec", "--first", "1"
    )
    assert done.returncode == 7
    assert f"No module named 'missing_package' in {installed / 'python'}" in done.stderr


def test_tools_and_libraries_are_the_pinned_ones() -> None:
    pinned = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    (tool,) = PROJECT["build-system"]["requires"]
    assert re.search(rf"^{re.escape(tool)} ", pinned, re.MULTILINE)
    for library in [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["backend"]]:
        name, least = library.split(">=")
        (has,) = re.findall(rf"^{name}==([0-9.]+) ", pinned, re.MULTILINE)
        assert tuple(map(int, has.split("."))) >= tuple(map(int, least.split(".")))
