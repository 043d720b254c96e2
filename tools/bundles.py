"""Builds libraries that hold a few models each (docs/bundle.md), runs them, and prints their sizes.

python -m tools.bundles [NAME ...]

NAME is a key of BUNDLES. A program in C must print the same with the bundle as with the whole library; sums of a model
with subgraphs may differ by 1e-4 of their size, since no passes run on them. Exits with code 1 if one differs, or if a
bundle is larger than its limit.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from conformance.suites.models import model_file

ROOT = Path(__file__).parent.parent
CMAKE = ROOT / ".venv" / "bin" / "cmake"
BUILD = ROOT / "build"
BUILDS = ROOT / "build-bundle"


@dataclass(frozen=True)
class Bundle:
    """Models of conformance/suites/models.py, each with the sizes of its inputs for every run, as sums.c takes them."""

    runs: dict[str, tuple[tuple[str, ...], ...]]
    dims: tuple[str, ...] = ()
    with_subgraphs: tuple[str, ...] = ()
    limit: int | None = None  # bytes of the stripped library without the models, at most


BUNDLES = {
    "mobilenet_v2": Bundle({"mobilenet_v2": ((),)}, dims=("--dims", "batch=1"), limit=1_500_000),
    # Open sizes; subgraphs; operators whose families share a source with an operator that is in none of the models.
    "several": Bundle(
        {
            "silero_vad": (("1x256", "2x1x128", ""), ("2x256", "2x2x128", "")),
            "ppocr_det": (("1x3x64x96",), ("2x3x32x64",)),
            "magika": (("1x2048",), ("3x2048",)),
        },
        with_subgraphs=("silero_vad",),
    ),
}


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
    folder.mkdir()
    made = folder / "sums"
    source = ROOT / "tests" / "consumers" / "c" / "sums.c"
    run("gcc", source, f"-I{ROOT / 'include'}", f"-L{library}", f"-Wl,-rpath,{library}", "-ltouchstone", "-o", made)
    return made


def agree(told: str, expected: str, tolerance: float) -> bool:
    """Compares lines that end with a number each."""
    pairs = list(zip(told.splitlines(), expected.splitlines(), strict=True))
    return all(
        mine.rpartition(" ")[0] == other.rpartition(" ")[0]
        and math.isclose(float(mine.split()[-1]), float(other.split()[-1]), rel_tol=tolerance)
        for mine, other in pairs
    )


def check(name: str, bundle: Bundle, scratch: Path) -> bool:
    """Prints a row. Returns False if the bundle is wrong or too large."""
    folder, build = scratch / "bundle", BUILDS / name
    files = {model: scratch / f"{model}.onnx" for model in bundle.runs}
    for model, file in files.items():
        file.symlink_to(model_file(model))
    models = ",".join(map(str, files.values()))
    run(BUILD / "touchstone", "bundle", "--models", models, *bundle.dims, "-o", folder)
    run(CMAKE, "--preset", "bundle", "-B", build, f"-DTOUCHSTONE_BUNDLE={folder}")
    run(CMAKE, "--build", build, "--target", "touchstone_shared")
    library = (build / "lib" / "libtouchstone.so").resolve()
    weights = sum((folder / f"{model}.model").stat().st_size for model in files)
    size = library.stat().st_size - weights
    print(f"{name}: {size} bytes beside {weights} of the models, limit {bundle.limit or 'none'}")
    small, whole = program(library.parent, scratch / "small"), program(BUILD / "lib", scratch / "whole")
    same = True
    for model, runs in bundle.runs.items():
        for sizes in runs:
            told = run(small, model, *sizes, TOUCHSTONE_ISA="avx2")
            expected = run(whole, files[model], *sizes, TOUCHSTONE_ISA="avx2")
            print(f"  {model} {' '.join(sizes)}: {told.strip()}")
            if not agree(told, expected, 1e-4 if model in bundle.with_subgraphs else 0):
                print(f"    the whole library: {expected.strip()}")
                same = False
    return same and size <= (bundle.limit or size)


def main() -> None:
    fine = True
    for name in sys.argv[1:] or list(BUNDLES):
        with tempfile.TemporaryDirectory() as scratch:
            fine = check(name, BUNDLES[name], Path(scratch)) and fine
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
