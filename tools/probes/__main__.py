"""python -m tools.probes [Q007 ...] [--with onnxruntime]: puts the probes of spec/questions to runtimes.

Shows, for each probe, what each runtime answers, in the notation of the files. Exit 1 if a file says otherwise.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from codegen.entry import SpecError
from codegen.load import load_spec
from codegen.questions import load_notes
from tools.probes.model import Answer, Question, questions_of, same, shown
from tools.probes.runtimes import ROOT, Ask, describe, evaluator, onnxruntime, reference


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools.probes", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("only", nargs="*", metavar="Q007", help="these questions (default: all)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="where the command was built")
    parser.add_argument("--with", dest="more", action="append", choices=["onnxruntime"], default=[],
                        help="ask this runtime too")  # fmt: skip
    parser.add_argument("--peer", type=Path, default=ROOT / ".venv-onnxruntime" / "bin" / "python",
                        help="the interpreter that has onnxruntime")  # fmt: skip
    parser.add_argument("--why", action="store_true", help="what a refusal says")
    return parser.parse_args()


def report(question: Question, answers: dict[str, Answer], why: bool) -> int:
    """Prints one probe; returns how many runtimes answer otherwise than the file says."""
    print(f"{question.name}  {question.probe.of} in opset {question.probe.opset}")
    wrong = 0
    for runtime, answer in answers.items():
        expected = question.expected[runtime]
        good = same(answer, expected)
        wrong += not good
        print(f"  {runtime:12} {shown(answer)}{'' if good else '    BUT THE FILE SAYS ' + shown(expected)}")
        if answer.why and (why or not good):
            print(f"  {'':12}   {describe(answer)}")
    return wrong


def main() -> int:
    args = options()
    asked: dict[str, Ask] = {"reference": reference(args.build.resolve() / "touchstone"), "onnx": evaluator}
    if args.more:
        asked["onnxruntime"] = onnxruntime(args.peer.absolute())
    try:
        operators = load_spec(ROOT / "spec")
        notes = load_notes(ROOT / "spec", operators)
        known = {note.id for note in notes}
        if unknown := [name for name in args.only if name not in known]:
            print(f"error: there is no {', '.join(unknown)} in spec/questions", file=sys.stderr)
            return 2
        wanted = [note for note in notes if not args.only or note.id in args.only]
        questions = questions_of(wanted, operators, ROOT / "spec")
    except SpecError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    answers = {runtime: ask(questions) for runtime, ask in asked.items()}
    wrong = sum(report(q, {name: answers[name][k] for name in asked}, args.why) for k, q in enumerate(questions))
    print(f"{len(questions)} probes on {', '.join(asked)}: {wrong} answers are not what the files say")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
