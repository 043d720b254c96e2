"""python -m tests.mutation: mutants of models and of spec lines under the sanitizers, several processes at a time.

Half of the mutants are of models, half of lines, from number 0 on; --first and --count repeat one of them:

    python -m tests.mutation --count 20000
    python -m tests.mutation --source lines --first 5 --count 1
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
KINDS = ["pytorch-converted", "pytorch-operator", "simple", "light", "real"]
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "LC_ALL": "C.UTF-8",
}


def folders_of(source: str) -> list[Path]:
    """Folders of the originals: models of the onnx package, or our own lines."""
    if source == "lines":
        return [ROOT / "conformance" / "suites" / "spec"]
    found = importlib.util.find_spec("onnx")
    assert found is not None and found.origin is not None
    data = Path(found.origin).parent / "backend" / "test" / "data"
    return [data / kind for kind in KINDS if (data / kind).is_dir()]


def run(driver: Path, source: str, first: int, count: int, more: list[str]) -> int:
    command = [str(driver), "--source", source, "--first", str(first), "--count", str(count), *more]
    for folder in folders_of(source):
        command += ["--folder", str(folder)]
    ended = subprocess.run(command, env=os.environ | ENVIRONMENT, capture_output=True, text=True, errors="replace")
    print(ended.stdout + ended.stderr, end="", flush=True)
    return ended.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", type=Path, default=ROOT / "build-asan/tests/mutation/mutation_driver")
    parser.add_argument("--source", choices=["models", "lines"], help="both by default")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    arguments, more = parser.parse_known_args()
    sources = [arguments.source] if arguments.source else ["models", "lines"]
    share = arguments.count // len(sources)
    parts: list[tuple[str, int, int]] = []
    for source in sources:
        cut = -(-share // arguments.jobs)
        for first in range(0, share, cut):
            parts.append((source, arguments.first + first, min(cut, share - first)))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        codes = list(pool.map(lambda part: run(arguments.driver, *part, more), parts))
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
