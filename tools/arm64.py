"""Checks that the fast kernels and their callers compile for arm-64: python -m tools.arm64

Halide compiles every kernel and its runtime for arm-64. clang checks the C++ of core, model and optimized for that
target. Nothing is linked or run, since this machine lacks arm-64 libraries and hardware.
"""

from __future__ import annotations

import json
import os
import re
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
ROOMS = ("core/", "model/", "transform/", "optimized/")
OF_ONE_SET = ("-DTOUCHSTONE_VECTOR", "-DTOUCHSTONE_EXPRESSIONS")
AARCH64 = 183  # e_machine of ELF


def machines(library: Path) -> list[int]:
    """Returns the ELF machine of each member of an archive."""
    data, at, out = library.read_bytes(), 8, []
    while at + 60 <= len(data):
        size = int(data[at + 48 : at + 58])
        member = data[at + 60 : at + 60 + size]
        if member[:4] == b"\x7fELF":
            out.append(struct.unpack_from("<H", member, 18)[0])
        at += 60 + size + size % 2
    return out


def compile_kernels(folder: Path) -> int:
    """Compiles all kernels; returns the number of objects."""
    generate = [str(BUILD / "optimized" / "generate_kernels")]
    library = folder / "kernels.a"
    subprocess.run([*generate, "arm-64-linux", "neon", str(folder / "neon"), str(library)], check=True)
    subprocess.run([*generate, "--runtime", "arm-64-linux", str(folder)], check=True)
    found = machines(library) + machines(folder / "halide_runtime.a")
    if not found or set(found) != {AARCH64}:
        raise SystemExit(f"arm64: the kernels are compiled for machines {sorted(set(found))}")
    return len(found)


def of_each_set() -> set[str]:
    """Returns the stems of the files that are compiled once per x86 instruction set."""
    text = (ROOT / "optimized" / "CMakeLists.txt").read_text(encoding="utf-8")
    lists = re.findall(r"^ *vector_kernels\([^)]*?\bKERNELS\s+([^)]*?)(?:\sOPTIONS\b[^)]*)?\)", text, re.MULTILINE)
    stems = {stem for names in lists for stem in names.split()}
    if not stems:
        raise SystemExit("arm64: optimized/CMakeLists.txt lists no vector kernels")
    return stems


def sources() -> list[Path]:
    """Returns the sources to check: no tests, kernel generators or generated files, and no files compiled per x86
    instruction set."""
    listed = subprocess.run(["git", "ls-files", "--", *ROOMS], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [ROOT / name for name in listed.stdout.split() if name.endswith(".cc")]
    kernels = {ROOT / "optimized" / "kernels" / f"{stem}.cc" for stem in of_each_set()}
    apart = ("_test", "_probe", "generator")
    return [
        file
        for file in files
        if file not in kernels and file.stem != "generate" and not any(word in file.stem for word in apart)
    ]


def seen() -> list[str]:
    """Returns the include folders and definitions of those sources, taken from the build's compile commands."""
    out: list[str] = []
    of_one_set = (*OF_ONE_SET, *(f"-DTOUCHSTONE_{stem.upper()}=" for stem in of_each_set()))
    for row in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8")):
        words = shlex.split(row["command"])
        target = words[words.index("-o") + 1]
        if not target.startswith(ROOMS):
            continue
        wanted = [[word] for word in words if word.startswith(("-I", "-D", "-std="))]
        wanted += [words[at : at + 2] for at, word in enumerate(words) if word == "-isystem"]
        for option in wanted:
            if option[-1] not in out and not option[-1].startswith(of_one_set):
                out += option
    return out


def read_as_arm(folder: Path) -> list[str]:
    """Returns clang's errors in the sources. The system headers are this machine's, except for two that depend on the
    architecture."""
    for name, text in {"gnu/stubs-32.h": "", "bits/wordsize.h": "#define __WORDSIZE 64\n"}.items():
        (folder / name).parent.mkdir()
        (folder / name).write_text(text)
    own = Path("/usr/include/x86_64-linux-gnu")
    library = max((own / "c++").iterdir(), key=lambda each: int(each.name))
    folders = [folder, Path("/usr/include/c++") / library.name, library, own]
    here = [word for each in folders for word in ("-isystem", str(each))]
    given = seen()
    options = ["clang++", "--target=aarch64-linux-gnu", "-fsyntax-only", "-w", "-fno-caret-diagnostics"]

    def read(file: Path) -> str:
        command = [*options, *given, *here, str(file)]
        done = subprocess.run(command, cwd=BUILD, capture_output=True, text=True, check=False)
        return done.stderr if done.returncode else ""

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [said for said in pool.map(read, sources()) if said]


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
