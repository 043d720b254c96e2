"""python -m tests.fast: the whole spec suite on the fast executor, for each instruction set that this processor has.

Prints how many lines got each verdict. Exit 1 if any is a fail, 7 if nothing is built.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.fast.suite import ISAS, ROOT, judged, lacks


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.fast", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("isas", nargs="*", metavar="ISA", help=f"of {', '.join(ISAS)} (default: all that there are)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="of each session")
    parser.add_argument("--filter", default="*", metavar="TEXT", help="only lines that match")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="where the command was built")
    return parser.parse_args()


def main() -> int:
    asked = options()
    touchstone = asked.build / "touchstone"
    if not touchstone.exists():
        print(f"error: there is no {touchstone}; make build makes it", file=sys.stderr)
        return 7
    failed = False
    for isa in asked.isas or ISAS:
        if lacks(touchstone, isa):
            print(f"{isa}: this processor lacks it")
            continue
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            found = judged(touchstone, f"{isa}:threads={asked.threads}", "spec", report, "--filter", asked.filter)
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in found.verdicts.most_common())
        print(f"{isa}: {found.verdicts.total()} lines: {verdicts or found.said}", flush=True)
        for fail in found.fails:
            print(f"  {fail}")
        failed = failed or bool(found.fails) or found.code != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
