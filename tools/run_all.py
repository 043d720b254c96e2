"""make run: conforms the reference on the pinned suite, runs real models beside ONNX Runtime, names the page.

Exits 0 when every target ran to its end, 1 when one of ours has a fail verdict, else with the code of what broke.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "build" / "report"


def conform() -> int:
    command = [ROOT / "build" / "touchstone", "conform", "--target", "reference", "--suite", "onnx"]
    command += ["--json", REPORT / "conform.json", "--html", REPORT / "index.html"]
    return subprocess.run(command, cwd=ROOT).returncode


def real_models() -> int:
    if not (ROOT / "tools" / "real_models.py").exists() and not (ROOT / "tools" / "real_models").is_dir():
        return 0
    return subprocess.run([sys.executable, "-m", "tools.real_models"], cwd=ROOT).returncode


def summarise() -> int:
    """Prints one line a run; how many fail verdicts there are."""
    failed = 0
    for run in json.loads((REPORT / "conform.json").read_text(encoding="utf-8"))["runs"]:
        summary = run["summary"]
        failed += summary["fail"]
        counts = ", ".join(f"{count} {verdict}" for verdict, count in summary["verdicts"].items())
        print(f"{run['target']} on {run['suite']}: {summary['cases']} cases: {counts}")
    return failed


def main() -> int:
    REPORT.mkdir(parents=True, exist_ok=True)
    codes = [conform()]
    if codes[0] not in (0, 1):
        print(f"make run: the conformance run broke off with exit code {codes[0]}", file=sys.stderr)
        return codes[0]
    print()
    codes.append(real_models())
    print()
    if summarise() > 0:
        codes.append(1)
    print(f"page: {REPORT / 'index.html'}")
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
