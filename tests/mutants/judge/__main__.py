"""Injects faults into the judge; each must make a named test fail.

    python -m tests.mutants.judge [--only TEXT] [--jobs 2] [--build build] [--out build/mutants/judge]

The faults are those of faults*.yaml. Exits with 1 if a test does not detect its fault.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.mutants.faults import ROOT, campaign, read_faults

HERE = Path(__file__).parent
FOLDERS = ("conformance/judge", "reference/semantics")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", metavar="TEXT", help="faults whose file, test or sentence holds this")
    parser.add_argument("--jobs", type=int, default=2, help="faults at once")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "mutants" / "judge")
    args = parser.parse_args()
    faults = [s for s in read_faults(HERE) if args.only in f"{s.file} {s.says} {s.test}"]
    return campaign("the judge", faults, FOLDERS, args.build, args.out, args.jobs)


if __name__ == "__main__":
    sys.exit(main())
