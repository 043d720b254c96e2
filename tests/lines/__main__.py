"""Makes the lines of the spec suite anew: python -m tests.lines [--only Clip,Pad] [--out DIR].

Candidates come from the literal cases of the entries (seeds.py, vary.py); the reference says which are valid and which
rule refuses the others; those that add something become lines (pick.py). Prints what is missing: types of a version
with fewer than three cases, rules that no case breaks, lines that ended the reference.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from codegen.entry import Operator, Version
from codegen.load import load_spec
from codegen.units import same_kernel
from tests.lines.pick import Picked, Picker
from tests.lines.probe import outcomes
from tests.lines.seeds import breaking_of, line_name, seeds_of
from tests.lines.typed import more_of
from tests.lines.vary import borrowed, breaches, candidates

ROOT = Path(__file__).resolve().parents[2]
MOST_SEEDS = 12
# Candidates of a version, beside those of each of its types: where it is the newest with its kernel, and else.
MOST_WIDELY, MOST, MOST_MORE = 700, 120, 4000


def cases_of(operator: Operator, probe: Path, by_sides: bool) -> list[Picked]:
    """Oldest version first."""
    versions = sorted(operator.versions, key=lambda v: v.since)
    newest = {kernel_of(version): version for version in versions}
    seeds = {version.since: seeds_of(operator, version) for version in versions}
    picker, made = Picker(by_sides), [Picked(version) for version in versions]

    def ask(lines: list[list[str]]) -> None:
        rows = iter(outcomes(probe, itertools.chain(*lines)))
        for picked, own in zip(made, lines, strict=True):
            widely = newest[kernel_of(picked.version)] is picked.version
            picker.pick(picked, own, list(itertools.islice(rows, len(own))), widely)

    def first(version: Version) -> list[str]:
        widely = newest[kernel_of(version)] is version
        most = (MOST_WIDELY if widely else MOST) + 5 * sum(map(len, version.types.values()))
        return list(itertools.islice(candidates(version, seeds[version.since][:MOST_SEEDS], widely), most))

    def more(picked: Picked) -> list[str]:
        version, own_seeds = picked.version, seeds[picked.version.since]
        drafts = (
            list(itertools.islice(more_of(version, own_seeds, picked.missing), MOST_MORE)) if picked.positive else []
        )
        if own_seeds and picked.never_broken():
            drafts += itertools.islice(breaches(version, [*own_seeds, *borrowed(version, own_seeds)]), MOST_MORE)
        lines = list(dict.fromkeys(map(str, drafts)))
        own = line_name(picked.version) + "("
        for other in made if picked.never_broken() else []:
            for line in other.negative.values():
                lines.append(own + line[: line.rindex(" !")].split("(", 1)[1])
        return [line for line in lines if line not in picked.positive]

    ask([list(dict.fromkeys(breaking_of(operator, v) + (first(v) if seeds[v.since] else []))) for v in versions])
    for _ in range(2):  # of what the first turn did not find, the second may ask about more
        if any(picked.missing or picked.never_broken() for picked in made):
            ask([more(picked) for picked in made])
    return made


def kernel_of(version: Version) -> str:
    if version.kind == "semantics":
        return same_kernel(version)
    return f"{version.kind} {version.structural} {version.random}"


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
        if never := picked.never_broken():
            print(f"{version.name}: no case breaks {', '.join(never)}")
        for line, row in picked.odd:
            if "died" in row:
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
