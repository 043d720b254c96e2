"""Tests the judge: it must refuse mutants of all definitions, and accept the same kernels with faithful sums.

    python -m tests.mutants [--count 2000] [--seed N] [--only Conv,Softmax,topk] [--match REGEX] [--out build/mutants]

A mutant is one edit of an entry's expressions, or of the C++ of a template in reference/structural/; one of its
operator's cases must refuse it. A run without --seed draws a fresh one and prints it; --seed repeats a run.

Exits with 1 in any of these cases:
- fewer than 97 % are refused of those that survivors.yaml does not name
- the mutants of one kernel need more than twenty cases
- with --seed, a mutant is neither refused nor named
- a faithful variant is refused

A fresh draw always finds a few edits that nobody has met: they are printed as ones to explain, and only their share
counts.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

from codegen.emit_cases import emit, load_releases
from codegen.load import load_spec
from codegen.units import primitives
from tests.mutants.cases import read_cases, read_lines
from tests.mutants.emit import Mutant, Subject, faithful_of, mutants_of, subjects_of
from tests.mutants.report import faithful_report, mutants_report
from tests.mutants.run import ORDERS, Runner, Shown
from tests.mutants.structural import Template, mutants_of_template, templates_of

ROOT = Path(__file__).resolve().parents[2]
LINES = ROOT / "conformance" / "suites" / "spec"
KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted")
BATCH = 16  # mutants per call of the compiler


def share_of(subject: Subject | Template, known: dict[str, int], wanted: int, seed: int, match: str) -> list[Mutant]:
    if isinstance(subject, Template):
        return mutants_of_template(subject, wanted, seed, match)
    return mutants_of(subject, known, wanted, seed, match)


def drawn(
    subjects: list[Subject | Template], known: dict[str, int], count: int, seed: int, match: str = ""
) -> list[Mutant]:
    """The same number from each kernel; large kernels make up for small ones."""
    most = 2 * (count // len(subjects) + 1)
    with ProcessPoolExecutor(2) as pool:
        again = [repeat(each) for each in (known, most, seed, match)]
        shares = list(pool.map(share_of, subjects, *again, chunksize=4))
    random.Random(seed).shuffle(shares)  # selects the kernels that contribute one more
    even = 1
    while even < most and sum(len(share[:even]) for share in shares) < count:
        even += 1
    rounds = [[share[k] for share in shares if k < len(share)] for k in range(even)]
    return sorted([m for each in rounds for m in each][:count], key=lambda m: m.name)


def say(text: str) -> None:
    print(text, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=2000, help="mutants")
    parser.add_argument("--seed", type=int, help="draws the same mutants again (default: a fresh one)")
    parser.add_argument("--only", default="", help="operators and templates, by commas")
    parser.add_argument("--match", default="", metavar="REGEX", help="those whose identity matches: 'GRU.*: let shown'")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--suite", type=Path, default=Path.home() / ".cache/touchstone/suites/1.23.2")
    parser.add_argument("--no-faithful", action="store_true", help="mutants alone")
    args = parser.parse_args()
    began = time.monotonic()
    seed = random.SystemRandom().randrange(1_000_000) if args.seed is None else args.seed
    only = set(args.only.split(",")) - {""}
    operators = load_spec(ROOT / "spec")
    known = primitives(ROOT / "spec")
    emit(operators, load_releases(ROOT / "spec"), args.out / "cases")
    cases = read_cases([*(args.suite / kind for kind in KINDS), args.out / "cases" / "positive"])
    for version, lines in read_lines(LINES).items():
        cases[version] += lines
    kernels = subjects_of([o for o in operators if not only or o.op in only], cases)
    templates = [t for t in templates_of(operators, cases) if not only or t.name in only]
    mutants = drawn([*kernels, *templates], known, args.count, seed, args.match)
    say(f"{len(kernels)} kernels and {len(templates)} templates with cases, {len(mutants)} mutants, by --seed {seed}")
    runner = Runner(ROOT, args.build, args.out)
    code = 0
    batches = [mutants[k : k + BATCH] for k in range(0, len(mutants), BATCH)]
    shown: list[Shown] = runner.run(batches)
    (args.out / "mutants.json").write_text(json.dumps([one.row for one in shown], indent=1), encoding="utf-8")
    text, short = mutants_report(mutants, shown, seed, fresh=args.seed is None)
    say(text)
    for one in short:
        say(f"error: {one}")
    code = max(code, int(bool(short)))
    if not args.no_faithful:
        faithful = [faithful_of(s, known) for s in kernels]
        batches = [faithful[k : k + BATCH] for k in range(0, len(faithful), BATCH)]
        for order, flags in ORDERS.items():
            text, refused = faithful_report(order, faithful, runner.run(batches, order, flags, faithful=True), ROOT)
            say(text)
            code = max(code, int(refused > 0))
    say(f"{time.monotonic() - began:.0f} s; every case's verdict: {args.out / 'mutants.json'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
