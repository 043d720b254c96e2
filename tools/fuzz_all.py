"""Runs `make fuzz`: ten minutes of operators and graphs on the fast executor and on ONNX Runtime, and a page.

Exits with 1 if a case of the fast executor is wrong, with the code of a campaign that failed, or else with 0: a
finding about another runtime is no failure of this project.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tools.run_all import ROOT, peers

COMMAND = ROOT / "build" / "touchstone"
FOLDER = ROOT / "build" / "fuzz"
LEVELS = ("op", "graph")
RAN = (0, 1)  # exit codes of a campaign that came to its end


def targets() -> list[str]:
    """Returns the fast executor, and ONNX Runtime if it is installed, with models lowered to its opset."""
    return ["fast", *(f"{name}:relabel=opset" for name in peers() if name == "onnxruntime")]


def campaign(target: str, level: str, seconds: float, seed: int) -> tuple[int, Path]:
    folder = FOLDER / "campaigns" / f"{level}-{target.split(':')[0]}"
    command = [COMMAND, "fuzz", "--target", target, "--level", level, "--time", f"{seconds:.0f}s", "--seed", seed]
    done = subprocess.run([str(word) for word in [*command, "--dir", folder, "--jobs", 2]], cwd=ROOT, check=False)
    return done.returncode, folder


def table(state: dict) -> str:
    """Returns a line for each campaign."""
    rows = [("target", "level", "cases", "a second", "marks", "findings")]
    for one in state["campaigns"]:
        found = [f for f in state["findings"] if (f["target"], f["level"]) == (one["target"], one["level"])]
        rate = one["cases"] / one["seconds"] if one["seconds"] else 0
        rows.append(
            (one["target"], one["level"], str(one["cases"]), f"{rate:.0f}", str(len(one["marks"])), str(len(found)))
        )
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = (
        "  ".join(
            text.ljust(w) if k < 2 else text.rjust(w) for k, (text, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="of all campaigns together")
    parser.add_argument("--seed", type=int, default=int(time.time()) % (1 << 24), help="default: the time")
    args = parser.parse_args()
    shutil.rmtree(FOLDER / "campaigns", ignore_errors=True)
    shutil.rmtree(FOLDER / "report", ignore_errors=True)
    pairs = [(target, level) for target in targets() for level in LEVELS]
    folders = []
    for target, level in pairs:
        code, folder = campaign(target, level, args.minutes * 60 / len(pairs), args.seed)
        if code not in RAN:
            return code
        folders.append(folder)
    report = FOLDER / "report"
    merge = [COMMAND, "fuzz", "merge", *folders, "--dir", report, "--html", report / "index.html", "--json"]
    merged = subprocess.run(
        [str(word) for word in merge], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
    )
    if merged.returncode not in RAN:
        return merged.returncode
    state = json.loads(merged.stdout)
    print(table(state))
    print(f"seed {args.seed}; page and findings: {report / 'index.html'}")
    return int(any(finding["target"] == "fast" for finding in state["findings"]))


if __name__ == "__main__":
    sys.exit(main())
