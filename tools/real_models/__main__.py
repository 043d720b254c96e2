"""Runs the real models of `make run` on the reference and on ONNX Runtime, node by node: python -m tools.real_models

Exits 0 if everything ran and nothing of ours failed. Exits 1 if a node of the reference is wrong,
otherwise with the code of the failure.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from conformance.suites.models import ModelError
from tools.real_models import report
from tools.real_models.flatten import FlattenError
from tools.real_models.results import ModelRun
from tools.real_models.run import Bench
from tools.real_models.runtimes import OnnxRuntime, Reference, RunError
from tools.real_models.scenarios import SCENARIOS, Scenario

ROOT = Path(__file__).resolve().parents[2]


def run_one(scenario: Scenario, reference: Reference, peer: OnnxRuntime, scratch: Path) -> ModelRun:
    found = ModelRun(scenario.name, scenario.about)
    try:
        Bench(scenario, reference, peer, scratch, found, lambda text: print(text, file=sys.stderr, flush=True)).run()
        found.code = 70 if found.our_fault else 1 if found.ours_failed else 0
    except RunError as error:
        found.error, found.code = str(error), error.code
    except ModelError as error:
        found.error, found.code = str(error), 7
    except FlattenError as error:
        found.error, found.code = str(error), 4
    return found


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools.real_models", description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="where the command was built")
    parser.add_argument("--report", type=Path, default=ROOT / "build" / "report", help="where the page goes")
    parser.add_argument("--peer", type=Path, default=ROOT / ".venv-onnxruntime" / "bin" / "python",
                        help="the interpreter that has onnxruntime")  # fmt: skip
    parser.add_argument("--only", action="append", choices=[each.name for each in SCENARIOS], help="one model")
    parser.add_argument("--all", action="store_true", help="the models of the long run too")
    parser.add_argument("--no-link", action="store_true",
                        help="whoever writes the suite's page meanwhile leads from it to this one")  # fmt: skip
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave feeds, taps and judgements in DIR")
    return parser.parse_args()


def main() -> int:
    args = options()
    reference, peer = Reference(args.build.resolve() / "touchstone"), OnnxRuntime(args.peer.absolute())
    for file in (reference.binary, peer.python):
        if not file.exists():
            print(f"error: there is no {file}; make build makes it", file=sys.stderr)
            return 7
    args.report.mkdir(parents=True, exist_ok=True)
    scratch = args.keep or Path(tempfile.mkdtemp(prefix="real-models-", dir=args.report))
    runs = []
    try:
        for scenario in SCENARIOS:
            if scenario.name not in args.only if args.only else not (scenario.always or args.all):
                continue
            if args.keep:
                shutil.rmtree(scratch / scenario.name, ignore_errors=True)
            print(f"{scenario.name}: {scenario.about}", file=sys.stderr)
            runs.append(run_one(scenario, reference, peer, scratch))
    finally:
        if not args.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    # A fail verdict must not be hidden by another model's refusal, nor a bug by a fail.
    code = max((run.code for run in runs), default=0)
    page = args.report / "models.html"
    report.write_json(runs, args.report / "models.json", code)
    report.write_page(runs, page)
    if not args.no_link:
        report.link_from(args.report / "index.html", page)
    for run in runs:
        print("\n".join(report.text(run)))
    print(f"page: {page}")
    return code


if __name__ == "__main__":
    sys.exit(main())
