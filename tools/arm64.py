"""Do the fast kernels and what calls them compile for arm-64? python -m tools.arm64

Halide compiles every kernel for it, and its runtime; clang reads the C++ of core, model and optimized as that one's.
Nothing is linked or run: this machine has neither its libraries nor one of its kind.
"""

from __future__ import annotations

import json
import os
import shlex
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
ROOMS = ("core/", "model/", "optimized/")
AARCH64 = 183  # e_machine of ELF


def machines(library: Path) -> list[int]:
    """What the members of an archive are compiled for."""
    data, at, out = library.read_bytes(), 8, []
    while at + 60 <= len(data):
        size = int(data[at + 48 : at + 58])
        member = data[at + 60 : at + 60 + size]
        if member[:4] == b"\x7fELF":
            out.append(struct.unpack_from("<H", member, 18)[0])
        at += 60 + size + size % 2
    return out


def compile_kernels(folder: Path) -> int:
    """Returns how many objects there are."""
    generate = [str(BUILD / "optimized" / "generate_kernels")]
    library = folder / "kernels.a"
    subprocess.run([*generate, "arm-64-linux", "neon", str(folder / "neon"), str(library)], check=True)
    subprocess.run([*generate, "--runtime", "arm-64-linux", str(folder)], check=True)
    found = machines(library) + machines(folder / "halide_runtime.a")
    if not found or set(found) != {AARCH64}:
        raise SystemExit(f"arm64: the kernels are compiled for machines {sorted(set(found))}")
    return len(found)


def sources() -> dict[Path, list[str]]:
    """By file, the options that say what it sees: no test, nothing that codegen writes, no x86 set's own."""
    out: dict[Path, list[str]] = {}
    for row in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8")):
        file = Path(row["file"])
        if not file.is_relative_to(ROOT) or not file.relative_to(ROOT).as_posix().startswith(ROOMS):
            continue
        words = shlex.split(row["command"])
        if "_test" in file.stem or "generator" in file.stem or file.stem in ("generate", "vector_moves"):
            continue
        seen = [word for word in words if word.startswith(("-I", "-D", "-std="))]
        for at, word in enumerate(words):
            if word == "-isystem":
                seen += words[at : at + 2]
        out[file] = seen
    return out


def read_as_arm(folder: Path) -> list[str]:
    """What clang says against the sources. The headers are this machine's: of theirs that differ, glibc wants one."""
    (folder / "gnu").mkdir()
    (folder / "gnu" / "stubs-32.h").touch()
    gcc = next(Path("/usr/include/x86_64-linux-gnu/c++").iterdir())
    here = ["-isystem", str(gcc), "-isystem", "/usr/include/x86_64-linux-gnu", "-isystem", str(folder)]
    options = ["clang++", "--target=aarch64-linux-gnu", "-fsyntax-only", "-w", "-fno-caret-diagnostics"]

    def read(item: tuple[Path, list[str]]) -> str:
        file, seen = item
        done = subprocess.run(
            [*options, *seen, *here, str(file)], cwd=BUILD, capture_output=True, text=True, check=False
        )
        return done.stderr if done.returncode else ""

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [said for said in pool.map(read, sources().items()) if said]


def main() -> int:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kernels = compile_kernels(folder)
        said = read_as_arm(folder)
    for text in said:
        print(text, file=sys.stderr)
    files = len(sources())
    print(f"arm64: {kernels} objects; {files - len(said)} of {files} sources; {time.monotonic() - began:.0f} s")
    return 1 if said or not files else 0


if __name__ == "__main__":
    sys.exit(main())
