"""Makes the spec suite anew: python -m tests.lines [--only Clip,Pad] [--probe build/tests/lines/lines_probe] [--out DIR].

Candidates come from the literal cases of the entries (seeds.py, vary.py); the reference says which are valid and which rule
refuses the others; those that add something become lines (pick.py). Prints what is missing: types of a version with fewer than
three cases, rules that no case breaks, lines that ended the reference.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from codegen.entry import Operator
from codegen.load import load_spec
from tests.lines.pick import Picked, pick
from tests.lines.probe import outcomes
from tests.lines.seeds import seeds_of
from tests.lines.vary import candidates

ROOT = Path(__file__).resolve().parents[2]
MOST_SEEDS = 12
MOST = 1500  # candidates of a version


def cases_of(operator: Operator, probe: Path, by_sides: bool) -> list[Picked]:
    """Oldest version first."""
    made, format_rules = [], set()
    versions = sorted(operator.versions, key=lambda v: v.since)
    lines = []
    for version in versions:
        seeds = seeds_of(operator, version)[:MOST_SEEDS]
        lines.append(list(itertools.islice(candidates(version, seeds), MOST)) if seeds else [])
    rows = iter(outcomes(probe, itertools.chain(*lines)))
    for version, own in zip(versions, lines, strict=True):
        made.append(pick(version, own, list(itertools.islice(rows, len(own))), by_sides, format_rules))
    return made


def write(operator: Operator, made: list[Picked], out: Path) -> None:
    file = out / operator.domain / f"{operator.op}.cases"
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [line for picked in made for line in [*picked.positive, *picked.negative.values()]]
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def report(operator: Operator, made: list[Picked]) -> None:
    for picked in made:
        version = picked.version
        if picked.missing:
            print(f"{version.name}: fewer than three of {', '.join(f'{c} {t}' for c, t in picked.missing)}")
        refused = {rule.rpartition("/")[2] for rule in picked.negative}
        if never := [rule.id for rule in version.rules if rule.id not in refused]:
            print(f"{version.name}: no case breaks {', '.join(never)}")
        for line, row in picked.odd:
            if "died" in row or "broken" in row:
                print(f"{version.name}: {line}: {row}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.lines", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="operators, by commas")
    parser.add_argument("--probe", type=Path, default=ROOT / "build" / "tests" / "lines" / "lines_probe")
    parser.add_argument("--sides", action="store_true", help="the probe counts sides: keep what reaches a new one")
    parser.add_argument("--out", type=Path, default=ROOT / "conformance" / "suites" / "spec")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    only = set(asked.only.split(",")) - {""}
    operators = [o for o in load_spec(ROOT / "spec") if not only or o.op in only]
    total = 0
    with ProcessPoolExecutor(asked.jobs) as pool:
        every = pool.map(cases_of, operators, itertools.repeat(asked.probe), itertools.repeat(asked.sides))
        for operator, made in zip(operators, every, strict=True):
            write(operator, made, asked.out)
            report(operator, made)
            positive, negative = sum(len(p.positive) for p in made), sum(len(p.negative) for p in made)
            total += positive + negative
            print(f"{operator.op}: {len(made)} versions, {positive} valid, {negative} refused", flush=True)
    print(f"{total} cases")
    return 0


if __name__ == "__main__":
    sys.exit(main())
