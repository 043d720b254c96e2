"""Runs the probes of spec/questions on several runtimes: python -m tools.probes [Q007 ...] [--with onnxruntime].

Shows each runtime's answer to each probe, in the notation of the files. Exit code 1 if a file records another answer.
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
    parser.add_argument("--quiet", action="store_true", help="only the probes that a file says otherwise of")
    return parser.parse_args()


def report(question: Question, answers: dict[str, Answer], why: bool, quiet: bool) -> int:
    """Prints one probe; returns the number of runtimes whose answer differs from the file."""
    as_said = {runtime: same(answer, question.expected[runtime]) for runtime, answer in answers.items()}
    wrong = sum(not good for good in as_said.values())
    if quiet and not wrong:
        return 0
    print(f"{question.name}  {question.probe.of} in opset {question.probe.opset}")
    for runtime, answer in answers.items():
        expected, good = question.expected[runtime], as_said[runtime]
        print(f"  {runtime:12} {shown(answer)}{'' if good else '    BUT THE FILE SAYS ' + shown(expected)}")
        if answer.why and (why or not good):
            print(f"  {'':12}   {describe(answer)}")
    return wrong


def main() -> int:
    args = options()
    asked: dict[str, Ask] = {"reference": reference(args.build.resolve() / "touchstone"), "onnx": evaluator}
    if args.more:
        asked["onnxruntime"] = onnxruntime(args.peer.absolute())
    for file in (args.build / "touchstone", *([args.peer] if args.more else [])):
        if not file.exists():
            print(f"error: there is no {file}; make build makes it", file=sys.stderr)
            return 7
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
    wrong = 0
    for position, question in enumerate(questions):
        given = {runtime: answers[runtime][position] for runtime in asked}
        wrong += report(question, given, args.why, args.quiet)
    print(f"{len(questions)} probes on {', '.join(asked)}: {wrong} answers are not what the files say")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
