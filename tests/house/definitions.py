"""A C++ type is defined once per namespace: two definitions in one program are undefined behavior (C++20,
basic.def.odr).
"""

from __future__ import annotations

import re
from collections import defaultdict

from tests.house.rules import Files

NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
PARTS = re.compile(
    r"namespace\b\s*(?P<space>[\w:]*)\s*\{"
    r"|\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+(?P<type>\w+)\b(?!\s*::)(?:\s+final)?(?:\s*:[^;{}()]*)?\s*\{"
    r"|\{|(?P<close>\})"
)


def types_in(text: str) -> list[tuple[str, str]]:
    """Namespace and name of each type that is defined outside functions, types and unnamed namespaces."""
    code = NOT_CODE.sub('""', text)
    around: list[str | None] = []  # a namespace, or None for other braces
    found = []
    for part in PARTS.finditer(code):
        if part["close"]:
            if around:
                around.pop()
            continue
        if part["space"] is not None:
            around.append(part["space"] or "(unnamed)")
            continue
        named = part["type"] and None not in around and "(unnamed)" not in around
        if named and not re.search(r"template\s*<[^;{}]*>\s*$", code[max(0, part.start() - 300) : part.start()]):
            found.append(("::".join(str(space) for space in around), part["type"]))
        around.append(None)
    return found


def defined_twice(files: Files) -> list[str]:
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path, text in files.items():
        if path.endswith((".h", ".cc")):
            for key in types_in(text):
                places[key].append(path)
    return [
        f"{space}::{name} is defined in {' and '.join(where)}"
        for (space, name), where in sorted(places.items())
        if len(where) > 1
    ]
