"""Regenerates the lines of the spec suite: python -m tests.lines [--only Clip,Pad] [--again] [--out DIR].

Candidates come from the literal cases of the entries (seeds.py, vary.py) or, with `--again`, from the present suite.
The reference reports the valid ones and the rule that refuses each other one. Candidates that may add coverage
(pick.py) are ordered, with more where a type has too few (chain.py). Those that do add coverage become lines
(worth.py). Prints the purpose of each line and the gaps: types of a version with fewer than three cases, rules that no
case violates, lines that crashed the reference.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from codegen.entry import Operator, Version
from codegen.load import load_spec
from codegen.units import same_kernel
from conformance.suites.spec_lines import SUITE
from tests.lines.chain import Chains, in_order
from tests.lines.draft import Draft
from tests.lines.pick import Picked, Picker, without_rule
from tests.lines.plainer import plainer
from tests.lines.probe import outcomes
from tests.lines.seeds import MAX_LENGTH, breaking_of, line_name, seeds_of
from tests.lines.typed import more_of
from tests.lines.vary import borrowed, breaches, candidates
from tests.lines.worth import BY_SIDE, asked, listed, worth

ROOT = Path(__file__).resolve().parents[2]
MAX_SEEDS = 12
# Bounds of candidates: for a version that is the newest with its kernel, for others (both in addition to five for each
# type), and for gaps.
MAX_WIDELY, MAX, MAX_MORE = 700, 120, 4000
MAX_PLAINER, TURNS = 120, 12  # candidates a turn of a type that has too few lines, and turns


@dataclass
class Probes:
    judged: Path  # from a build with the judge
    counted: Path  # from an instrumented build, whose kernels report the blocks that ran


def cases_of(operator: Operator, probes: Probes, suite: list[str] | None) -> list[Picked]:
    """Picks the lines of each version, oldest first. `suite`: the present lines; new ones are made only for gaps."""
    versions = sorted(operator.versions, key=lambda v: v.since)
    newest = {kernel_of(version): version for version in versions}
    seeds = {version.since: seeds_of(operator, version) for version in versions}
    picker, made = Picker(), [Picked(version) for version in versions]

    def ask(lines: list[list[str]], all_that_add: bool) -> None:
        rows = iter(outcomes(probes.judged, itertools.chain(*lines), "new"))
        for picked, own in zip(made, lines, strict=True):
            picked.every = all_that_add and suite is not None
            widely = all_that_add and newest[kernel_of(picked.version)] is picked.version
            picker.pick(picked, own, list(itertools.islice(rows, len(own))), widely)

    def first(version: Version) -> list[str]:
        if not seeds[version.since]:
            return []
        widely = newest[kernel_of(version)] is version
        most = (MAX_WIDELY if widely else MAX) + 5 * sum(map(len, version.types.values()))
        return list(itertools.islice(candidates(version, seeds[version.since][:MAX_SEEDS], widely), most))

    def more(picked: Picked) -> list[str]:
        version, own_seeds = picked.version, seeds[picked.version.since]
        drafts = (
            list(itertools.islice(more_of(version, own_seeds, picked.missing), MAX_MORE)) if picked.positive else []
        )
        if own_seeds and picked.never_broken():
            drafts += itertools.islice(breaches(version, [*own_seeds, *borrowed(version, own_seeds)]), MAX_MORE)
        lines = list(dict.fromkeys(map(str, drafts)))
        own = line_name(picked.version) + "("
        for other in made if picked.never_broken() else []:
            for line in other.negative.values():
                lines.append(own + line[: line.rindex(" !")].split("(", 1)[1])
        return new(picked, lines)

    def new(picked: Picked, lines: list[str]) -> list[str]:
        known = {*picked.positive, *(line for line, _ in picked.unjudged)}
        return [line for line in lines if line not in known]

    def own(version: Version) -> list[str]:
        if suite is None:
            return list(dict.fromkeys(breaking_of(operator, version) + first(version)))
        return [without_rule(line) for line in suite if line.startswith(line_name(version) + "(")]

    ask([own(version) for version in versions], True)
    if suite is not None:
        ask([new(picked, first(picked.version)) if picked.missing else [] for picked in made], False)
    for _ in range(2):  # the second turn tries more candidates for the gaps that the first one left
        if any(picked.missing or picked.never_broken() for picked in made):
            ask([more(picked) for picked in made], False)
    for picked in made:
        picker.take_unjudged(picked)
    for picked in made:
        put_in_order(picked, seeds[picked.version.since], probes)
    keep_what_is_worth_it(made, probes)
    return made


def put_in_order(picked: Picked, seeds: list[Draft], probes: Probes) -> None:
    """Orders the lines; a line that times out with all mutants has an unknown kill set and goes last."""
    rows = dict(zip(picked.positive, outcomes(probes.judged, picked.positive, "all"), strict=True))
    late = [line for line in picked.positive if "died" in rows[line]]
    chains = Chains(picked.version, [line for line in picked.positive if "died" not in rows[line]], rows)
    drafts = {key: map(str, plainer(picked.version, seeds, *key)) for key in chains.short() if seeds}
    for _ in range(TURNS):  # stops for a type once it has three lines
        lines = [line for key in chains.short() if key in drafts for line in itertools.islice(drafts[key], MAX_PLAINER)]
        lines = sorted({line for line in lines if len(line) <= MAX_LENGTH}, key=lambda line: (len(line), line))
        chains.lengthen(lines, outcomes(probes.judged, lines, "all"))
    picked.positive = [*in_order(chains.lines(), chains.rows), *late]


def keep_what_is_worth_it(made: list[Picked], probes: Probes) -> None:
    rows = iter(asked(probes.judged, probes.counted, [line for picked in made for line in picked.positive]))
    for picked in made:
        own = list(itertools.islice(rows, len(picked.positive)))
        words = worth(own)
        picked.worth = {line: word for line, word in zip(picked.positive, words, strict=True) if word}
        picked.positive = list(picked.worth)


def kernel_of(version: Version) -> str:
    if version.kind == "semantics":
        return same_kernel(version)
    return f"{version.kind} {version.structural} {version.random}"


def file_of(suite: Path, operator: Operator) -> Path:
    return suite / operator.domain / f"{operator.op}.cases"


def lines_of(suite: Path, operator: Operator) -> list[str]:
    file = file_of(suite, operator)
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def write(operator: Operator, made: list[Picked], out: Path) -> None:
    file = file_of(out, operator)
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [line for picked in made for line in [*picked.positive, *picked.negative.values()]]
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def report(operator: Operator, made: list[Picked]) -> None:
    for picked in made:
        version = picked.version
        if picked.missing:
            print(f"{version.name}: fewer than three judged of {', '.join(f'{c} {t}' for c, t in picked.missing)}")
        if never := picked.never_broken():
            print(f"{version.name}: no case breaks {', '.join(never)}")
        for line, row in picked.odd:
            if "died" in row:
                print(f"{version.name}: {line}: {row}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.lines", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="operators, by commas")
    parser.add_argument("--probe", type=Path, default=ROOT / "build" / "tests" / "lines" / "lines_probe")
    parser.add_argument("--counted", type=Path, default=ROOT / "build-coverage" / "tests" / "lines" / "lines_probe")
    parser.add_argument("--again", action="store_true", help="choose among the lines that there are")
    parser.add_argument("--out", type=Path, default=SUITE)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    if missing := [probe for probe in (given.probe, given.counted) if not probe.exists()]:
        parser.error(f"no {missing[0]}: make build and python -m tools.coverage build the probes")
    only = set(given.only.split(",")) - {""}
    operators = [o for o in load_spec(ROOT / "spec") if not only or o.op in only]
    suites = [lines_of(SUITE, operator) if given.again else None for operator in operators]
    total: Counter[str] = Counter()
    by_side: list[str] = []
    with ProcessPoolExecutor(given.jobs) as pool:
        every = pool.map(cases_of, operators, itertools.repeat(Probes(given.probe, given.counted)), suites)
        for operator, made in zip(operators, every, strict=True):
            write(operator, made, given.out)
            report(operator, made)
            words = Counter(word for picked in made for word in picked.worth.values())
            words["rule"] = sum(len(picked.negative) for picked in made)
            total += words
            by_side += [line for picked in made for line, word in picked.worth.items() if word == "side"]
            print(f"{operator.op}: {len(made)} versions, {said(words)}", flush=True)
    own = tuple(f"{line_name(version)}(" for operator in operators for version in operator.versions)
    others = [line for line in listed() if not line.startswith(own)]
    BY_SIDE.write_text("".join(f"{line}\n" for line in sorted([*others, *by_side])), encoding="utf-8")
    print(f"{sum(total.values())} cases: {said(total)}")
    return 0


def said(words: Counter[str]) -> str:
    return ", ".join(f"{count} {word}" for word, count in words.most_common() if count)


if __name__ == "__main__":
    sys.exit(main())
