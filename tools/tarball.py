"""Packs a release: sources that build the library without Python and without Halide. python -m tools.tarball

    python -m tools.tarball [--into FOLDER]

It holds the library's sources and what codegen writes. released/ has what Halide compiled, the message definitions,
and the lists that CMake otherwise asks Python for (cmake/released.cmake). Takes what stands in build/ and generated/.
Prints the tarball's path.
"""

from __future__ import annotations

import argparse
import gzip
import io
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import halide

from codegen.emit_kernels import hot_names, source_names
from codegen.load import load_spec

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
SOURCES = (
    "api",
    "backends",
    "cmake",
    "codegen",
    "core",
    "include",
    "model",
    "optimized",
    "reference",
    "spec",
    "transform",
)
SINGLE = ("CMakeLists.txt", "LICENSE", "README.md")
LEFT_OUT = re.compile(
    r"_test\.\w+$|(^|/)(testdata|golden)/|^spec/(questions|errata)/|_generator\.cc$|/generators_\d\.cc$"
)
GENERATED = ("core", "model", "optimized", "transform", "reference")
EXTENDED = re.compile(r"^generated/reference/(extended|opaque)")
KERNELS = ("kernels_sse41.a", "kernels_avx2.a", "kernels_avx512.a", "kernels_opencl.a", "halide_runtime.a")


def version() -> str:
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(touchstone VERSION ([0-9.]+)", text)[1]  # type: ignore[index]


def files() -> Iterator[tuple[str, bytes]]:
    """Yields the name and content of each file, without the release's own folder."""
    listed = subprocess.run(["git", "ls-files", "-z", *SOURCES, *SINGLE], cwd=ROOT, capture_output=True, check=True)
    for name in sorted(listed.stdout.decode().split("\0")):
        if name and not LEFT_OUT.search(name):
            yield name, (ROOT / name).read_bytes()
    for folder in GENERATED:
        for file in sorted((ROOT / "generated" / folder).rglob("*")):
            name = file.relative_to(ROOT).as_posix()
            if file.is_file() and not LEFT_OUT.search(name) and not EXTENDED.search(name):
                yield name, file.read_bytes()
    for name in KERNELS:
        yield f"released/optimized/{name}", (BUILD / "optimized" / name).read_bytes()
    for file in sorted((BUILD / "model" / "proto").glob("*.proto")):
        yield f"released/proto/{file.name}", file.read_bytes()
    installed = Path(halide.install_dir())
    for header in ("HalideRuntime.h", "HalideRuntimeOpenCL.h"):
        yield f"released/halide/{header}", (installed / "include" / header).read_bytes()
    yield "released/halide/LICENSE.txt", (installed / "share" / "doc" / "Halide" / "LICENSE.txt").read_bytes()
    operators = load_spec(ROOT / "spec")
    for name, names in (("kernels", source_names(operators)), ("hot_kernels", hot_names(operators))):
        native = [one for one in names if not one.startswith("extended")]
        yield f"released/{name}.txt", ";".join(native).encode()


def pack(into: Path) -> Path:
    """Writes the tarball into a folder; returns its path. The same sources give the same bytes."""
    into.mkdir(parents=True, exist_ok=True)
    stem = f"touchstone-{version()}"
    made = into / f"{stem}.tar.gz"
    with (
        gzip.GzipFile(made, "wb", compresslevel=6, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name, content in files():
            entry = tarfile.TarInfo(f"{stem}/{name}")
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))
    return made


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools.tarball", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--into", type=Path, default=BUILD / "dist", metavar="FOLDER")
    print(pack(parser.parse_args().into))
    return 0


if __name__ == "__main__":
    sys.exit(main())
