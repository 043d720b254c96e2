"""python -m tests.faithful: checks that the judge accepts every faithful computation, and how tight its bounds are.

Judges an independent runtime (numpy, in all its orders, libraries and formulas), case by case. Exit 1 if the judge
refuses any, or if its bounds are so wide that the median utilisation is under 2^-10.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tests.faithful.judging import BUILD, judged
from tests.faithful.report import KEYS, Judged, median_utilisation, table
from tests.faithful.table import FORMS

MIN_UTILISATION = 2.0**-10


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.faithful", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("forms", nargs="*", metavar="FORM", help=f"of {', '.join(FORMS)} (default: all)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases of operators whose name begins so")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each N-th case")
    parser.add_argument("--by", action="append", choices=list(KEYS), default=[], help="tables (default: form, regime)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--build", type=Path, default=BUILD, help="where the command was built")
    parser.add_argument("--show", type=int, default=20, metavar="N", help="how many refusals to print of each operator")
    return parser.parse_args()


def print_refusals(found: list[Judged], most: int) -> None:
    shown: dict[str, int] = {}
    for one in found:
        if one.refused:
            shown[one.op] = shown.get(one.op, 0) + 1
            if shown[one.op] <= most:
                print(f"refused  {one.name}: {one.verdict} {one.detail}")


def main() -> int:
    asked = options()
    if unknown := sorted(set(asked.forms) - FORMS.keys()):
        print(f"error: there is no form {', '.join(unknown)}", file=sys.stderr)
        return 2
    if not (asked.build / "touchstone").exists():
        print(f"error: there is no {asked.build / 'touchstone'}; make build makes it", file=sys.stderr)
        return 7
    found = judged(asked.forms or FORMS, asked.every, asked.only, jobs=asked.jobs, build=asked.build)
    if not found:
        print("error: no case", file=sys.stderr)
        return 2
    print_refusals(found, asked.show)
    for title in asked.by or ["form", "regime"]:
        print(table(title, found), end="\n\n")
    refused, median = sum(one.refused for one in found), median_utilisation(found)
    print(f"{len(found)} faithful computations, {refused} refused; median utilisation {median:.4f}, bound 2^-10")
    return 1 if refused or median < MIN_UTILISATION else 0


if __name__ == "__main__":
    sys.exit(main())
