"""Makes a released suite once: python -m conformance.suites.make VERSION|pinned|all [--out DIR].

A suite is a folder of backend-test cases with a manifest of hashes. It is built in a temporary folder and then renamed,
so that no reader sees a partial suite. `all` makes the missing suites of all releases, and one of the distinct cases.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

import onnx

from conformance.suites import distinct, pinned, released
from conformance.suites.folders import write_manifest


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "touchstone" / "suites"


def is_made(suite: Path) -> bool:
    return (suite / "manifest.json").is_file()


def suites_of_all_releases() -> dict[str, Path]:
    """Returns release -> its suite in the cache, oldest first; makes missing suites."""
    suites = {}
    for version in released.releases_with_suites():
        suites[version] = cache_folder() / version
        if not is_made(suites[version]):
            cases = make_suite(version, suites[version])
            print(f"suite {version}: {cases} cases at {suites[version]}", file=sys.stderr)
    return suites


def make_suite(version: str, out: Path) -> int:
    """Makes the suite at `out`, replacing an existing one; returns the number of cases."""
    out.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        made = staging / "suite"
        made.mkdir()
        if version == distinct.ALL:
            distinct.make(made, suites_of_all_releases())
        elif version == onnx.__version__:
            pinned.make(made)
        else:
            released.make(made, version)
        cases = write_manifest(made, version)
        if out.exists():
            out.rename(staging / "old")
        made.rename(out)
        return cases
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="conformance.suites.make", description=__doc__)
    parser.add_argument("version", help="a release of onnx, 'pinned' for the installed one, or 'all'")
    parser.add_argument("--out", type=Path, help="default: the cache, where `touchstone conform` looks")
    parser.add_argument("--force", action="store_true", help="make it again although it is there")
    options = parser.parse_args(arguments)
    version = onnx.__version__ if options.version == "pinned" else options.version
    out = options.out or cache_folder() / version
    if is_made(out) and not options.force:
        print(f"suite {version} is already at {out}", file=sys.stderr)
        return 0
    try:
        cases = make_suite(version, out)
    except released.SuiteError as error:
        print(f"error: {error}", file=sys.stderr)
        return 7
    print(f"suite {version}: {cases} cases at {out}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
