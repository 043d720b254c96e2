"""Instruments handwritten templates for branch coverage (make coverage).

Each `if` and each rule calls a function of its own, as conditions of entries do (sides.py). Each line has a comment
with its line number in the template.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from codegen.sides import Side

ASKS = re.compile(r"\b(if|require) ?\(")
NAMED = re.compile(r"(?:const )?\w+\* (\w+) = ")  # if (const T* name = ...)
# The code after this namespace belongs to the judge and is not instrumented.
OPENS, ENDS = "namespace touchstone::structural {", "}  // namespace touchstone::structural"
BRACKETS = {")": "(", "]": "[", "}": "{"}


def origins(text: str, template: str) -> list[int]:
    """Returns, for each line of the rendered text, the line number in the template."""
    sources = template.splitlines()
    patterns = [re.compile(re.sub(r"\\\{\\\{.*?\\\}\\\}", ".*", re.escape(source))) for source in sources]
    found: list[int] = []
    for line in text.splitlines():
        at = found[-1] if found else 0
        found.append(next(k for k in range(at, len(sources)) if patterns[k].fullmatch(line)) + 1)
    return found


def top_level(text: str, at: int) -> Iterator[tuple[int, str]]:
    """Yields the characters from `at` that are outside of brackets and strings, up to the enclosing closing bracket."""
    depth, quoted = 0, False
    while depth >= 0:
        c = text[at]
        if c == '"' and text[at - 1] != "\\":
            quoted = not quoted
        elif not quoted:
            if depth == 0:
                yield at, c
            depth += (c in BRACKETS.values()) - (c in BRACKETS)
        at += 1


def condition(text: str, start: int, kind: str) -> tuple[int, int, str]:
    """Returns start and end of the condition after `kind (`, and the C++ expression of its bool."""
    marks = dict(reversed([(c, at) for at, c in top_level(text, start)]))  # first position of each
    if kind == "require":
        return start, marks[","], text[start : marks[","]]
    if ";" in marks:
        start = marks[";"] + 2
    elif named := NAMED.match(text, start):
        return marks[")"], marks[")"], named[1]
    return start, marks[")"], text[start : marks[")"]]


def with_sides(text: str, template: str, place: str) -> str:
    """Returns the rendered text with instrumented conditions for gcov; `place` is the template's path."""
    lines, sides, out, done = origins(text, template), [], "", 0
    for found in ASKS.finditer(text, text.index(OPENS), text.index(ENDS)):
        if "//" in text[text.rfind("\n", 0, found.start()) + 1 : found.start()]:
            continue  # inside a comment
        start, end, asked = condition(text, found.end(), found[1])
        number = text.count("\n", 0, start)
        side = Side(len(sides), place, lines[number], len(sides) + 1, "rule" if found[1] == "require" else "if", asked)
        sides.append(side)
        out += text[done:start] + ("; " if start == end else "") + f"{function(side)}(bool({asked}))"
        done = end
    written: list[str] = []
    for line, number in zip((out + text[done:]).splitlines(), lines, strict=True):
        written.append(f"{line}  //#{number}")
        if line == OPENS:
            written += [row for side in sides for row in function_of(side)]
    return "\n".join(written) + "\n"


def function(side: Side) -> str:
    """Returns the name of a condition's function, which is unique among all templates: several share a unit."""
    return f"side_{PurePath(side.path).name.partition('.')[0]}_{side.number}"


def function_of(side: Side) -> list[str]:
    """Returns the C++ of a condition's function, in the form of kernel.h.j2."""
    head = f"static bool {function(side)}(bool predicate) {{"
    return [str(side), head, "  if (predicate)", "    return true;", "  return false;", "}"]
