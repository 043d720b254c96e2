"""Builds libraries that hold one model each (docs/bundle.md), runs them, and prints their sizes.

python -m tools.bundles [NAME ...]

NAME is a model of conformance/suites/models.py. A program in C must print the same with the bundle as with the whole
library. Exits with code 1 if it does not, or if a bundle is larger than its limit.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from conformance.suites.models import model_file

ROOT = Path(__file__).parent.parent
CMAKE = ROOT / ".venv" / "bin" / "cmake"
BUILD = ROOT / "build"
BUNDLES = ROOT / "build-bundle"


# Bytes of the stripped library without the weights, at most.
LIMITS = {"mobilenet_v2": 1_500_000}


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        [*map(str, command)], cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(
            f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        )
    return done.stdout


def program(library: Path, folder: Path) -> Path:
    made = folder / "consumer"
    source = ROOT / "tests" / "consumers" / "c" / "main.c"
    run("gcc", source, f"-I{ROOT / 'include'}", f"-L{library}", f"-Wl,-rpath,{library}", "-ltouchstone", "-o", made)
    return made


def bundle(name: str, limit: int, scratch: Path) -> bool:
    """Prints a row. Returns False if the bundle is wrong or too large."""
    file, folder, build = scratch / f"{name}.onnx", scratch / "bundle", BUNDLES / name
    file.symlink_to(model_file(name))
    run(BUILD / "touchstone", "bundle", "--models", file, "--dims", "batch=1", "-o", folder)
    run(CMAKE, "--preset", "bundle", "-B", build, f"-DTOUCHSTONE_BUNDLE={folder}")
    run(CMAKE, "--build", build, "--target", "touchstone_shared")
    library = (build / "lib" / "libtouchstone.so").resolve()
    weights = (folder / f"{file.stem}.model").stat().st_size
    size = library.stat().st_size - weights
    (small, whole) = (scratch / side for side in ("small", "whole"))
    small.mkdir(), whole.mkdir()
    told = run(program(library.parent, small), file.stem, TOUCHSTONE_ISA="avx2")
    expected = run(program(BUILD / "lib", whole), file, TOUCHSTONE_ISA="avx2")
    print(f"{name}: {size} bytes beside {weights} of the model, limit {limit}; {told.strip()}")
    if told != expected:
        print(f"  the whole library: {expected.strip()}")
    return told == expected and size <= limit


def main() -> None:
    names = sys.argv[1:] or list(LIMITS)
    fine = True
    for name in names:
        with tempfile.TemporaryDirectory() as scratch:
            fine = bundle(name, LIMITS[name], Path(scratch)) and fine
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
