"""Injects faults into the fast kernels; each must make a named test fail.

    python -m tests.mutants.kernels [--only TEXT] [--draw N [--seed N]] [--jobs 2]

The faults are those of faults*.yaml. Exits with 1 if a test does not detect its fault. --draw makes N token edits of
the same files instead, and prints those that no test of their program detects: many affect only speed.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.mutants.faults import ROOT, Fault, Workshop, campaign, read_faults
from tests.mutants.tokens import edits_of_text

HERE = Path(__file__).parent
FOLDERS = ("optimized/kernels", "optimized/kernels/rows")


def token_faults(faults: list[Fault]) -> Iterator[Fault]:
    """Token edits of lines that occur once in a file, for the program that tests the file."""
    for file, test in {s.file: s.test for s in faults}.items():
        text = (ROOT / file).read_text(encoding="utf-8")
        lines = text.split("\n")
        for token in edits_of_text(text):
            if text.count(lines[token.line]) == 1:
                yield Fault(file, f"{token.change} in: {token.text}", lines[token.line], token.made, test)


def explore(faults: list[Fault], count: int, seed: int, args: argparse.Namespace) -> int:
    taken = random.Random(seed).sample(list(token_faults(faults)), count)
    found = list(Workshop(args.build, args.out, FOLDERS, args.jobs).outcomes(taken, skips_what_does_not_compile=True))
    left = [fault for fault, red in found if not red]
    for fault in left:
        print(f"every test stays green: {fault.file}: {fault.says}")
    print(f"{len(found) - len(left)} of {len(found)} token edits turn a test red, by --seed {seed}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", metavar="TEXT", help="faults whose file, test or sentence holds this")
    parser.add_argument("--draw", type=int, default=0, metavar="N", help="token edits, and no verdict")
    parser.add_argument("--seed", type=int, help="draws the same again (default: a fresh one)")
    parser.add_argument("--jobs", type=int, default=2, help="faults at once")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "mutants" / "kernels")
    args = parser.parse_args()
    faults = [s for s in read_faults(HERE) if args.only in f"{s.file} {s.says} {s.test}"]
    if args.draw > 0:
        seed = random.SystemRandom().randrange(1_000_000) if args.seed is None else args.seed
        return explore(faults, args.draw, seed, args)
    return campaign("the fast kernels", faults, FOLDERS, args.build, args.out, args.jobs)


if __name__ == "__main__":
    sys.exit(main())
