"""Runs `make run`: our targets and their peers on the pinned suite, and real models; prints the paths of the pages.

Exits 0 if every target ran to its end. Exits 1 if a case of one of ours is wrong by the suite's own rule or by the
judge, and nothing explains that outcome. Otherwise exits with the code of the failure.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools import spec_coverage_report
from tools.real_models import report

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "build" / "report"

OURS = ("reference", "fast")


def peers() -> list[str]:
    """Returns the installed other runtimes; a missing one is reported and skipped."""
    there = ["onnx-reference"]
    python = ROOT / ".venv-onnxruntime" / "bin" / "python"
    if python.exists() and subprocess.run([python, "-c", "import onnxruntime"], capture_output=True).returncode == 0:
        there.append("onnxruntime")
    else:
        print("make run: onnxruntime is not installed (make setup does it); going on without it", file=sys.stderr)
    return there


def conform() -> int:
    command = [ROOT / "build" / "touchstone", "conform", "--suite", "onnx"]
    for target in [*OURS, *peers()]:
        command += ["--target", target]
    command += ["--json", REPORT / "conform.json", "--html", REPORT / "index.html"]
    if counted := spec_coverage_report.for_page():
        command += ["--coverage", counted]
    else:
        print("make run: the page is without the coverage of the spec until make coverage counts it", file=sys.stderr)
    return subprocess.run(command, cwd=ROOT).returncode


class RealModels:
    """Process of the real models, parallel to the suite, which leaves a CPU idle during its largest models. Its output
    is shown afterwards."""

    def __init__(self) -> None:
        self.said = tempfile.TemporaryFile()
        command = [sys.executable, "-m", "tools.real_models", "--no-link"]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=self.said, stderr=subprocess.STDOUT)

    def end(self) -> int:
        """Waits, prints its output, links its page from the suite's; returns its exit code."""
        code = self.process.wait()
        self.said.seek(0)
        sys.stdout.flush()
        shutil.copyfileobj(self.said, sys.stdout.buffer)
        report.link_from(REPORT / "index.html", REPORT / "models.html")
        return code

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def summarise() -> int:
    """Prints three lines per run; returns the number of cases of ours with an unexplained outcome."""
    unexplained = 0
    for run in json.loads((REPORT / "conform.json").read_text(encoding="utf-8"))["runs"]:
        summary = run["summary"]
        if run["target"] in OURS:
            unexplained += summary["unexplained"]

        def counted(counts: dict[str, int]) -> str:
            return ", ".join(f"{count} {name}" for name, count in counts.items())

        name = f"{run['target']} {run['version']}".strip()
        print(f"{name} on {run['suite']}: {summary['cases']} cases: {counted(summary['verdicts'])}")
        print(f"  by the suite's own rule: {counted(summary['compat'])}")
        print(f"  to explain {summary['to_explain']}, of them unexplained {summary['unexplained']}")
    return unexplained


def main() -> int:
    began = time.monotonic()
    REPORT.mkdir(parents=True, exist_ok=True)
    models = RealModels()
    try:
        code = conform()
        if code not in (0, 1):  # 1: a peer may have fail verdicts
            print(f"make run: the conformance run broke off with exit code {code}", file=sys.stderr)
            return code
        print()
        codes = [models.end()]
    finally:
        models.kill()
    print()
    if summarise() > 0:
        codes.append(1)
    print(f"the suite and the real models took {time.monotonic() - began:.0f} s")
    print(f"page: {REPORT / 'index.html'}")
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
