"""The judge is judged: mutants of the entries must be refused, the same kernels with honest sums accepted.

python -m tests.mutants [--count 2000] [--seed 1] [--only Conv,Softmax] [--out build/mutants]

A mutant is refused by one of its operator's cases. Ends with 1 when fewer than 95 % of the mutants are refused, when
those of a kernel take more than twenty cases, when one is not refused for no reason that survivors.yaml knows, or when
one honest variant is refused.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

from codegen.load import load_spec
from codegen.units import primitives
from tests.mutants.cases import read_cases
from tests.mutants.emit import Mutant, Subject, honest_of, mutants_of, subjects_of
from tests.mutants.report import honest_report, mutants_report
from tests.mutants.run import ORDERS, Runner, Shown

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted")
BATCH = 16  # mutants that one call of the compiler makes


def drawn(subjects: list[Subject], known: dict[str, int], count: int, seed: int) -> list[Mutant]:
    """The same number from each kernel; what small ones cannot give, the others do."""
    most = 2 * (count // len(subjects) + 1)
    with ProcessPoolExecutor(2) as pool:
        shares = list(pool.map(mutants_of, subjects, repeat(known), repeat(most), repeat(seed), chunksize=4))
    even = 1
    while even < most and sum(len(share[:even]) for share in shares) < count:
        even += 1
    return [mutant for share in shares for mutant in share[:even]]


def say(text: str) -> None:
    print(text, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=2000, help="mutants")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="operators, by commas")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--suite", type=Path, default=Path.home() / ".cache/touchstone/suites/1.23.2")
    parser.add_argument("--no-honest", action="store_true", help="mutants alone")
    args = parser.parse_args()
    began = time.monotonic()
    only = set(args.only.split(",")) - {""}
    operators = [o for o in load_spec(ROOT / "spec") if not only or o.op in only]
    known = primitives(ROOT / "spec")
    subjects = subjects_of(
        operators, read_cases([*(args.suite / kind for kind in KINDS), args.build / "cases" / "positive"])
    )
    mutants = drawn(subjects, known, args.count, args.seed)
    say(f"{len(subjects)} kernels with cases, {len(mutants)} mutants, by seed {args.seed}")
    runner = Runner(ROOT, args.build, args.out)
    code = 0
    batches = [mutants[k : k + BATCH] for k in range(0, len(mutants), BATCH)]
    shown: list[Shown] = runner.run(batches)
    (args.out / "mutants.json").write_text(json.dumps([one.row for one in shown], indent=1), encoding="utf-8")
    text, short = mutants_report(mutants, shown)
    say(text)
    for one in short:
        say(f"error: {one}")
    code = max(code, int(bool(short)))
    if not args.no_honest:
        honest = [honest_of(s, known) for s in subjects]
        batches = [honest[k : k + BATCH] for k in range(0, len(honest), BATCH)]
        for order, flags in ORDERS.items():
            text, refused = honest_report(order, honest, runner.run(batches, order, flags, honest=True), ROOT)
            say(text)
            code = max(code, int(refused > 0))
    say(f"{time.monotonic() - began:.0f} s; every case's verdict: {args.out / 'mutants.json'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
