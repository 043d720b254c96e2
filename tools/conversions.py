"""Checks that converted models give the same bits: python -m tools.conversions [--every K] [--models FILE...]

Converts the literal cases of every entry, the distinct cases of all released suites, and real models. Runs each on the
reference before and after. Up: every case must reach the newest opset, unless a rule of spec/conversions refuses it by
name. Down: to the opset before the operator's version was introduced, and to older ones. All inputs but the first are
constants in that direction, as in exported models. Fails if an output differs, or if a conversion ends in any other
error.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
SUITES = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "touchstone" / "suites"
MODELS = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "touchstone" / "models"
DOWN = "previous,24,21,17,13,11,9,7"
Row = dict[str, Any]


@dataclass(frozen=True)
class Part:
    name: str
    folder: Path
    to: str
    frozen: bool = False
    every: int = 1


def rows_of(part: Part) -> Iterator[Row]:
    """Yields the program's result for each case, and a last row if the program failed."""
    program = [str(BUILD / "tests" / "conversions" / "run_conversions"), "--to", part.to, "--every", str(part.every)]
    command = [*program, *(["--frozen"] if part.frozen else []), str(part.folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as ran:
        assert ran.stdout is not None
        yield from (json.loads(line) for line in ran.stdout)
    if ran.returncode != 0:
        yield {"case": part.name, "came": "failed", "why": f"run_conversions ended with {ran.returncode}"}


# Since Resize-11 an axis that keeps its size has a second tap of weight zero, which turns the infinity of these cases
# into NaN.
INFINITE = (
    "Resize-10/one_axis_stays",
    "Upsample-1/height_stays",
    "Upsample-7/one_axis_stays",
    "Upsample-9/one_axis_stays",
)


def is_wrong(row: Row) -> bool:
    return row["came"] == "failed" or (row["came"] == "different" and not row["case"].endswith(INFINITE))


def share(rows: list[Row]) -> str:
    counts = Counter(row["came"] for row in rows)
    fit = sum(counts.values()) - counts["unfit"]
    rewritten = sum(bool(row.get("rewritten")) for row in rows)
    converted = counts["same"]
    told = ", ".join(f"{count} {came}" for came, count in counts.most_common() if came not in ("same", "unfit"))
    return f"{converted} of {fit} ({100 * converted / max(fit, 1):.1f} %), {rewritten} rewritten" + (
        f"; {told}" if told else ""
    )


def print_refusals(rows: list[Row]) -> None:
    reasons = Counter(row["rule"] + ": " + row["why"].split(": ", 1)[-1] for row in rows if row["came"] == "refused")
    for reason, count in reasons.most_common(12):
        print(f"    {count:>5} refused  {reason}")


def run_part(part: Part) -> list[Row]:
    rows = list(rows_of(part))
    targets = dict.fromkeys(row["to"] for row in rows if "to" in row)
    for target in targets:
        print(f"  {part.name}, to {target}: {share([row for row in rows if row.get('to') == target])}", flush=True)
    print_refusals(rows)
    for row in filter(is_wrong, rows):
        print(f"  {row['came']} {row['case']} to {row.get('to')}: {row['why']}", flush=True)
    return rows


def touchstone(*words: object) -> subprocess.CompletedProcess[str]:
    command = [str(BUILD / "touchstone"), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def run_model(file: Path, opset: int, scratch: Path) -> Row:
    """Converts and runs a real model, on one random feed."""
    row: Row = {"case": file.name, "to": str(opset)}
    feeds = ["--random", "--seed", "1"]
    dims = json.loads(os.environ.get("TOUCHSTONE_DIMS", "{}")).get(file.stem, {})
    feeds += [word for name, size in dims.items() for word in ("--dim", f"{name}={size}")]
    made = touchstone("convert", file, "--opset", opset, "-o", scratch / "made.onnx")
    if made.returncode != 0:
        return row | {"came": "refused" if made.returncode == 4 else "failed", "rule": "", "why": made.stderr.strip()}
    outputs = []
    for name, model in (("before", file), ("after", scratch / "made.onnx")):
        ran = touchstone("run", model, *feeds, "--output-dir", scratch / name)
        if ran.returncode != 0:
            return row | {"came": "unfit" if name == "before" else "failed", "why": ran.stderr.strip()}
        outputs.append([path.read_bytes() for path in sorted((scratch / name).glob("*.pb"))])
    same = outputs[0] == outputs[1] and outputs[0]
    return row | {"came": "same" if same else "different", "why": "" if same else "other bits"}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="every K-th case only")
    parser.add_argument("--models", type=Path, nargs="*", help="real models; without it all that are fetched")
    parser.add_argument("--models-only", action="store_true", help="no cases")
    options = parser.parse_args(arguments)
    literal, suites, pinned = BUILD / "cases" / "positive", SUITES / "all", SUITES / "1.23.2" / "node"
    parts = [
        Part("literal cases", literal, "newest,previous"),
        Part("literal cases, frozen", literal, DOWN, frozen=True),
        Part("distinct cases of all suites", suites, "newest"),
        Part("pinned suite, frozen", pinned, DOWN, frozen=True),
    ]
    wrong = 0
    for part in [] if options.models_only else parts:
        rows = run_part(Part(part.name, part.folder, part.to, part.frozen, options.every))
        wrong += sum(map(is_wrong, rows)) + (not rows)
    with tempfile.TemporaryDirectory(prefix="touchstone-conversions-") as scratch:
        for file in options.models if options.models is not None else sorted(MODELS.glob("*.onnx")):
            folder = Path(scratch) / file.stem
            folder.mkdir()
            row = run_model(file, 28, folder)
            print(f"  {row['came']} {file.name} {row['why']}", flush=True)
            wrong += is_wrong(row)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
