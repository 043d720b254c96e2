"""Edits of hand-written C++: replaces one token of a line by another.

Comments, strings, attribute defaults, shape inference, what is charged to a budget, and code that only refuses are left
alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.mutants.edits import COMPARISONS

# Operators have blanks on both sides; template brackets do not.
OPERATORS = {
    **COMPARISONS, "&&": ("||",), "||": ("&&",), "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("/",),
    "+=": ("-=",), "-=": ("+=",),
}  # fmt: skip
WORDS = {
    "min": "max", "max": "min", "floor": "ceil", "ceil": "floor", "head": "tail", "tail": "head", "true": "false",
    "false": "true", "first": "second", "second": "first",
}  # fmt: skip
OPERATOR = re.compile(r"(?<= )(?:" + "|".join(map(re.escape, sorted(OPERATORS, key=len, reverse=True))) + r")(?= )")
WORD = re.compile(r"\b(?:" + "|".join(WORDS) + r")\b")
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
NOT = re.compile(r"!(?=[\w(*])")
DEFAULT = re.compile(r"(?<=facts)\.\w+\(\"\w+\", [^()]*\)")  # the signature defines them as well
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'')
NOT_TOUCHED = re.compile(
    r"^\s*(?:#|//|namespace|template|using|enum|throw|charge_)"
    r"|\bCharge charge\(|^constexpr Index bytes_of_"  # what a budget is charged
    r"|values_text|to_string|\btext\("
    r"|any_size"  # an inferred shape
    r"|call\.wanted|call\.\w+\.size\(\)"  # the names that the node gives
)
REFUSES = re.compile(r"throw Error|require\(|hold\(")  # up to the end of the statement
NAMED = re.compile(r"\s*const (?:bool|auto|Index|Described)&? (\w+) = .*;$")  # one constant
LOOP = re.compile(r"(\s*)for \(.*\) \{$")
LEFT_ALONE = re.compile(r"(?:(?:Inferred|std::vector<ValueFacts>) infer|void (?:hold|check))_\w+\(")  # functions


@dataclass(frozen=True)
class Token:
    """One edit of the line with index `line`, from 0."""

    line: int
    change: str
    text: str  # the stripped line
    made: str  # the line after the edit


def masked(line: str) -> str:
    """The line with strings, comments and attribute defaults blanked."""
    line = DEFAULT.sub(lambda found: " " * len(found[0]), line)
    line = LITERAL.sub(lambda found: " " * len(found[0]), line)
    return line.partition("//")[0]


def others_of(code: str) -> Iterator[tuple[int, int, str]]:
    """(begin, end, replacement) of each possible token edit."""
    for found in OPERATOR.finditer(code):
        yield from ((*found.span(), other) for other in OPERATORS[found[0]])
    for found in WORD.finditer(code):
        yield (*found.span(), WORDS[found[0]])
    for found in NUMBER.finditer(code):
        number = int(found[0])
        yield from ((*found.span(), str(other)) for other in (number + 1, number - 1) if other >= 0)
    for found in NOT.finditer(code):
        yield (*found.span(), "")


def edits_of_line(number: int, line: str) -> Iterator[Token]:
    for begin, end, other in others_of(masked(line)):
        change = f"{line[begin:end]} -> {other}" if other else f"without {line[begin:end]}"
        yield Token(number, change, line.strip(), line[:begin] + other + line[end:])


def edits_of_text(text: str) -> Iterator[Token]:
    """Edits of computations: excludes shape inference, conditions that only throw, and what only they read."""
    lines = text.split("\n")
    refusing = lines_that_refuse(lines)
    left_alone = False
    for number, line in enumerate(lines):
        begins = LEFT_ALONE.match(line) is not None
        left_alone = left_alone or begins
        if not left_alone and not NOT_TOUCHED.search(line) and number not in refusing:
            yield from edits_of_line(number, line)
        left_alone = left_alone and not line.startswith("}") and not (begins and line.endswith("}"))


def lines_that_refuse(lines: list[str]) -> set[int]:
    found, refusing = set(), False
    for number, line in enumerate(lines):
        refusing = refusing or REFUSES.search(line) is not None
        if refusing or "throw Error" in "".join(lines[number + 1 : number + 2]):
            found.add(number)
        refusing = refusing and not line.rstrip().endswith((";", "}"))
    for number, line in enumerate(lines):
        named = NAMED.match(line)
        if named and not re.search(r", \w+ = ", line):
            readers = {k for k, other in enumerate(lines) if k != number and re.search(rf"\b{named[1]}\b", other)}
            if readers and readers <= found:
                found.add(number)
    for number, line in enumerate(lines):
        loop = LOOP.match(line)
        if loop:
            end = lines.index(f"{loop[1]}}}", number)
            if all(k in found or lines[k].strip() == "}" for k in range(number + 1, end)):
                found.add(number)
    return found


def made_by(text: str, token: Token) -> str:
    lines = text.split("\n")
    lines[token.line] = token.made
    return "\n".join(lines)
