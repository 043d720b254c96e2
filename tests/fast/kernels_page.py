"""Writes docs/kernels.md: the class of kernel that each operator version has on the fast executor, by element type.

python -m tests.fast.kernels_page [--build DIR]. Each line of the spec suite runs once, on the instruction set that all
processors have.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from codegen.write import write_if_changed
from conformance.suites.spec_lines import suite_lines

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "kernels.md"
COLUMNS = ("tuned", "generic", "reference", "view", "folded")
Counts = dict[str, dict[str, dict[str, int]]]  # version -> element type -> class -> lines
SETS = {
    "integers": "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split(),
    "8-bit floats": "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz float8e8m0".split(),
    "complex": "complex64 complex128".split(),
    "2- and 4-bit types": "int4 uint4 int2 uint2 float4e2m1".split(),
}
HEAD = """# Kernels by operator and element type

Written by tests/fast/kernels_page.py from a run of each line of the [spec suite](spec-suite.md) on `fast`; a test
fails if the page is older than the kernels. `touchstone show --kernels MODEL` names the kernel of each node of a
model, and why it is no faster one; `touchstone run --runtime fast --warn-slow` warns of the reference kernels that
a run took.

| column | kernels |
| --- | --- |
| tuned | written by hand, or generated with a schedule |
| generic | compiled from the definition, without a schedule of its own |
| reference | the interpreter's |
| view | none: the same elements in another shape |
| folded | none in a run: all of its lines have constant inputs, and are computed when the plan is made |

- The element type is that of the first input; of an operator without inputs, that of the first output. Sequences,
  optionals and maps are `other`.
- A type in several columns has lines of several classes, by rank, attributes or what is constant. The smaller
  shares have the number of their lines.
- Lines with an empty tensor do not count.
- `integers` are those of 8 to 64 bits with and without sign; a set is named if all of its types that a version
  allows are alike.
"""


def counts_of(build: Path) -> Counts:
    """Runs all lines, in two processes."""
    lines = suite_lines()
    program, environment = build / "tests" / "fast" / "kernel_classes", os.environ | {"TOUCHSTONE_ISA": "sse41"}
    parts = [
        subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(2)
    ]
    names = sorted({line.partition("(")[0] for line in lines})
    shares = [set(names[::2]), set(names[1::2])]
    found: Counts = {}
    for part, own in zip(parts, shares, strict=True):
        text = "".join(f"{line}\n" for line in lines if line.partition("(")[0] in own)
        assert part.stdin is not None
        part.stdin.write(text)
        part.stdin.close()
    for part in parts:
        assert part.stdout is not None
        text = part.stdout.read()
        if part.wait() != 0:
            raise SystemExit(f"{program} ended with {part.returncode}")
        found |= json.loads(text)
    return found


def cell_of(types: dict[str, dict[str, int]], column: str) -> str:
    """Returns the types of a column; each with its number of lines if most of its lines are in another one."""
    shares = {}
    for name, classes in types.items():
        if not classes.get(column):
            continue
        run = {each: lines for each, lines in classes.items() if each != "folded"} or classes
        if column not in run:
            continue
        most = max(run, key=lambda each: (run[each], each))
        shares[name] = "" if column == most else f" ({classes[column]} of {sum(run.values())})"
    words = []
    for title, members in SETS.items():
        allowed = [name for name in members if name in types]
        if len(allowed) > 1 and all(shares.get(name) == "" for name in allowed):
            words.append(title)
            shares = {name: share for name, share in shares.items() if name not in allowed}
    return ", ".join(sorted(f"{name}{share}" for name, share in shares.items()) + words)


def rows_of(counts: Counts) -> Iterator[tuple[str, list[str]]]:
    """Yields operators with the cells of their versions; neighbouring versions with equal cells are one row."""
    by_operator: dict[str, list[tuple[int, list[str]]]] = {}
    for version, types in counts.items():
        operator, _, since = version.rpartition("-")
        by_operator.setdefault(operator, []).append((int(since), [cell_of(types, column) for column in COLUMNS]))
    for operator, versions in sorted(by_operator.items()):
        versions.sort(key=lambda each: each[0])
        start = 0
        for k in range(1, len(versions) + 1):
            if k < len(versions) and versions[k][1] == versions[start][1]:
                continue
            numbers = ", ".join(str(since) for since, _ in versions[start:k])
            yield f"{operator} {numbers}", versions[start][1]
            start = k


def page_of(counts: Counts) -> str:
    rows = list(rows_of(counts))
    lines = ["| " + " | ".join(("version", *COLUMNS)) + " |", "| --- " * (len(COLUMNS) + 1) + "|"]
    lines += ["| " + " | ".join((name, *cells)) + " |" for name, cells in rows]
    return HEAD + "\n" + "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.fast.kernels_page", description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="where the programs were built")
    write_if_changed(PAGE, page_of(counts_of(parser.parse_args().build)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
