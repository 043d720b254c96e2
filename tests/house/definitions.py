"""A C++ type is defined once per namespace: two definitions in one program are undefined behavior (C++20,
basic.def.odr). A folder has one namespace, so that two folders may use one name.
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

# Namespace of each folder; core, model and reference share `touchstone` (docs/decisions/022-namespaces.md).
NAMESPACES = {
    "api/": "api",
    "backends/": "backends",
    "conformance/": "conformance",
    "conformance/compare/": "compare",
    "conformance/judge/": "judge",
    "conformance/report/": "report",
    "conformance/suites/": "suites",
    "conformance/targets/": "targets",
    "fuzz/": "fuzz",
    "fuzz/bytes/": "bytes",
    "optimized/": "optimized",
    "python/": "python",
    "tools/bench/": "bench",
    "tools/touchstone/": "command",
    "transform/": "transform",
}
OPENED = re.compile(r"^namespace touchstone(?:::(?P<name>\w+))?[\w:]* \{\n(?P<first>.*)", re.MULTILINE)


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


def other_namespaces(files: Files) -> list[str]:
    """Files that open another namespace than their folder's, other than to declare a type of it or helpers of tests."""
    breaches = []
    for path, text in files.items():
        folder = max((folder for folder in NAMESPACES if path.startswith(folder)), key=len, default="")
        if not folder or not path.endswith((".h", ".cc")):
            continue
        for opened in OPENED.finditer(text):
            declares = re.match(r"(?:class|struct|enum class) \w+;", opened["first"])
            if not declares and opened["name"] not in (NAMESPACES[folder], "testing"):
                breaches.append(f"{path}: opens `{opened[0].splitlines()[0]}`; its folder's is {NAMESPACES[folder]}")
    return breaches
