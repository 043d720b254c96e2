"""Installs the library into a folder of its own, and builds and runs programs against it as a product would."""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
CMAKE = str(ROOT / ".venv" / "bin" / "cmake")
HEADER = ROOT / "include" / "touchstone" / "touchstone.h"


def run(*command: str | Path, **more: object) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prefix")
    for part in ("runtime", "development"):
        run(CMAKE, "--install", BUILD, "--prefix", folder, "--component", part)
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """y = softmax(x W) of x [n, 4]."""
    weights = onnx.numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(4, 3) / 10, "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["s"]), helper.make_node("Softmax", ["s"], ["y"])],
        "consumer",
        [helper.make_tensor_value_info("x", 1, ["n", 4])],
        [helper.make_tensor_value_info("y", 1, ["n", 3])],
        [weights],
    )
    file = tmp_path_factory.mktemp("model") / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), file)
    return file


def test_a_program_in_c_by_pkg_config(prefix: Path, model: Path, tmp_path: Path) -> None:
    where = os.environ | {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    assert run("pkg-config", "--modversion", "touchstone", env=where).strip() == "0.1.0"
    flags = run("pkg-config", "--cflags", "--libs", "touchstone", env=where).split()
    program = tmp_path / "consumer"
    strict = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    run("gcc", *strict, HERE / "c" / "main.c", *flags, f"-Wl,-rpath,{prefix / 'lib'}", "-o", program)
    assert run(program, model) == "output 0: 3 elements, sum 1\n"
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"no model")
    refused = subprocess.run([program, broken], capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert '"kind":"invalid_model"' in refused.stderr


def test_a_program_in_cpp_by_debian_packages(model: Path, tmp_path: Path) -> None:
    cpack = str(ROOT / ".venv" / "bin" / "cpack")
    run(cpack, "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", "-B", tmp_path / "dist")
    packages = sorted((tmp_path / "dist").glob("*.deb"))
    names = ["libtouchstone-dev", "libtouchstone0", "touchstone-tools"]
    assert [file.name.split("_")[0] for file in packages] == names
    needs = run("dpkg-deb", "-f", packages[1], "Depends")
    assert "libprotobuf-lite" in needs
    assert "libtouchstone0 (= 0.1.0)" in run("dpkg-deb", "-f", packages[0], "Depends")
    for file in packages:
        run("dpkg-deb", "-x", file, tmp_path / "root")
    usr = tmp_path / "root" / "usr"
    run(CMAKE, "-S", HERE / "cpp", "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={usr}")
    run(CMAKE, "--build", tmp_path / "build")
    assert run(tmp_path / "build" / "consumer", model) == "y: 3 elements, sum 1\n"
    command = usr / "bin" / "touchstone"
    assert str(ROOT).encode() + b"/" not in command.read_bytes()
    where = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    words = ["conform", "--target", "reference", "--suite", "spec", "--filter", "Relu-14*", "--first", "3", "--json"]
    told = json.loads(run(command, *words, cwd=tmp_path, env=where))
    assert told["runs"][0]["summary"]["pass"] == 3
    share = usr / "share"
    for file in (
        "touchstone/schemas/conform.json",
        "bash-completion/completions/touchstone",
        "zsh/vendor-completions/_touchstone",
        "fish/vendor_completions.d/touchstone.fish",
        "man/man1/touchstone.1",
    ):
        assert (share / file).stat().st_size > 0 or (share / f"{file}.gz").exists(), file


def test_a_program_in_cpp_by_find_package(prefix: Path, model: Path, tmp_path: Path) -> None:
    run(
        CMAKE,
        "-S",
        HERE / "cpp",
        "-B",
        tmp_path,
        f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror",
    )
    run(CMAKE, "--build", tmp_path)
    assert run(tmp_path / "consumer", model) == "y: 3 elements, sum 1\n"


def test_the_library_names_no_folder_of_its_build(prefix: Path) -> None:
    data = (prefix / "lib" / "libtouchstone.so").resolve().read_bytes()
    for path in (str(ROOT).encode() + b"/", b".venv"):
        found = re.findall(rb"[ -~]*" + re.escape(path) + rb"[ -~]*", data)
        assert not found, found[:3]


def test_one_symbol_is_exported(prefix: Path) -> None:
    listed = run("nm", "-D", "--defined-only", prefix / "lib" / "libtouchstone.so").split("\n")
    names = {line.split()[-1].split("@")[0] for line in listed if line} - {"TOUCHSTONE_0"}
    assert names == {"ts_get_api"}
    assert "libtouchstone.so.0" in run("readelf", "-d", prefix / "lib" / "libtouchstone.so")


def entries() -> list[str]:
    """Returns the names in ts_api, in order."""
    body = HEADER.read_text(encoding="utf-8").split("typedef struct ts_api {")[1].split("} ts_api;")[0]
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
    return [a or b for a, b in re.findall(r"\(\*(\w+)\)\s*\(|\b(?:size_t|uint32_t) (\w+);", body)]


def test_the_table_only_grows() -> None:
    """Entries of the released table keep their places; abi.txt lists them."""
    released = (ROOT / "api" / "abi.txt").read_text(encoding="utf-8").split()
    assert entries()[: len(released)] == released


def test_the_library_lives_beside_onnxruntime(prefix: Path, model: Path) -> None:
    """Both load in one process, and each gives its own answer."""
    python = ROOT / ".venv-onnxruntime" / "bin" / "python"
    program = f"""
import ctypes, numpy, onnxruntime
session = onnxruntime.InferenceSession({str(model)!r})
x = numpy.ones((2, 4), numpy.float32)
before = session.run(None, {{"x": x}})[0]
library = ctypes.CDLL({str(prefix / "lib" / "libtouchstone.so")!r})
library.ts_get_api.restype = ctypes.c_void_p
table = library.ts_get_api(1)
entry = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[{entries().index("session_open")}]
opened = ctypes.c_void_p()
open_ = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)(entry)
assert open_({str(model).encode()!r}, None, ctypes.byref(opened)) is None
assert opened.value
assert (session.run(None, {{"x": x}})[0] == before).all()
print("both")
"""
    assert run(python, "-c", program).strip() == "both"


def test_the_header_states_the_table_of_the_library(prefix: Path) -> None:
    library = ctypes.CDLL(str(prefix / "lib" / "libtouchstone.so"))
    library.ts_get_api.restype = ctypes.POINTER(ctypes.c_size_t)
    version = int(re.search(r"#define TS_API_VERSION (\d+)u", HEADER.read_text(encoding="utf-8"))[1])
    for known in range(1, version + 1):
        assert library.ts_get_api(known)[0] == 8 * len(entries())
    assert not library.ts_get_api(version + 1)
