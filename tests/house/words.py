"""Rules of words: comments and headings open with a noun or a verb, and names are the field's own terms.

A comment is a run of whole lines (`//`, `#`, `{# #}`) or one behind code; a docstring and a Markdown heading count too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.house.rules import CODE, Files, tokens

OPENINGS = re.compile(r"(?:What|Of|Where|Who|Whom|Whose|Which|How|Whether|That which)\b")
PROSE = ("docs/findings/", "spec/questions/", "spec/errata/", "docs/decisions/")  # a question is titled by one


def cpp_comments(text: str, mark: str = "//") -> Iterator[tuple[int, str]]:
    """(line, text) of each comment: neighbouring lines that hold nothing else are one."""
    quoted = re.compile(r'"(?:\\.|[^"\\\n])*"' if mark == "//" else r"'[^'\n]*'|\"[^\"\n]*\"")
    held: list[str] = []
    first = 0
    for number, line in enumerate(text.splitlines(), 1):
        bare = quoted.sub(lambda found: "_" * len(found.group(0)), line)
        at = bare.find(mark)
        if at >= 0 and not bare[:at].strip():
            if not held:
                first = number
            held.append(line[at + len(mark) :].strip())
            continue
        if held:
            yield first, " ".join(held)
            held = []
        if at > 0 and bare[at - 1] in " \t":
            yield number, line[at + len(mark) :].strip()
    if held:
        yield first, " ".join(held)


def docstrings(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (said := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), said


def headings(text: str) -> Iterator[tuple[int, str]]:
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.startswith("```")
        if not fenced and (found := re.match(r"#+ +(.+)", line)):
            yield number, found.group(1)


def template_comments(text: str) -> Iterator[tuple[int, str]]:
    for found in re.finditer(r"\{#-?\s*(.+?)#\}", text, re.DOTALL):
        yield text.count("\n", 0, found.start()) + 1, found.group(1).strip()
    yield from cpp_comments(text)


def comments(path: str, text: str) -> Iterator[tuple[int, str]]:
    if path.endswith(CODE):
        yield from cpp_comments(text)
    elif path.endswith(".py"):
        yield from cpp_comments(text, "#")
        yield from docstrings(text)
    elif path.endswith(".j2"):
        yield from template_comments(text)
    elif path.endswith((".cmake", ".sh", "CMakeLists.txt", "Makefile", ".yaml")):
        yield from cpp_comments(text, "#")
    elif path.endswith(".md"):
        yield from headings(text)


def comment_openings(files: Files) -> list[str]:
    """A comment or heading that opens with a relative clause."""
    out = []
    for path, text in files.items():
        if path.startswith((*PROSE, "generated/", "conformance/suites/spec/")):
            continue
        out += [
            f"{path}:{line}: opens with {said[:40]!r}" for line, said in comments(path, text) if OPENINGS.match(said)
        ]
    return out


def sentences(said: str) -> Iterator[str]:
    yield from (part for part in re.split(r"(?<=[.;:?!])\s+|\n\s*\n|\s-\s", said) if part)


def long_sentences(files: Files, most: int = 25) -> list[str]:
    """Sentences of comments over `most` words; a word in backquotes counts as one."""
    out = []
    for path, text in files.items():
        if path.endswith(".md") or path.startswith((*PROSE, "generated/")):
            continue
        for line, said in comments(path, text):
            for sentence in sentences(re.sub(r"`[^`]*`", "code", said)):
                if len(sentence.split()) > most and "|" not in sentence:
                    out.append(f"{path}:{line}: {len(sentence.split())} words: {sentence[:60]!r}")
    return out


# Words that names and texts had here once, with the field's term for each.
RETIRED = {
    "outline": "AnalyzedGraph",
    "workbench": "MutableGraph",
    "survey": "ShapeInference",
    "nests": "row kernels",
    "leaning": "contiguous",
    "inwards": "inner reduction",
    "readings": "semantics",
    "picture": "image",
    "crooked": "non-affine",
    "lends": "aliases",
    "slip": "injected fault",
    "slips": "injected faults",
    "honest": "faithful",
    "contender": "runtime process",
    "referee": "output checker",
    "passage": "IoStatus",
    "epitaph": "exit description",
    "misdeed": "fault",
    "detour": "algorithm",
}
IMAGES = "tests/images/"  # pictures are decoded there
HISTORY = "docs/experiments/"


def parts_of(name: str) -> Iterator[str]:
    """The words of an identifier or a file name, in lower case."""
    yield from (part.lower() for part in re.split(r"[^A-Za-z]+|(?<=[a-z0-9])(?=[A-Z])", name) if part)


def retired_words(files: Files) -> list[str]:
    """A retired word in an identifier, a file name, a string, a heading or a comment."""
    out = []
    for path, text in files.items():
        if path.startswith((*PROSE, HISTORY, IMAGES, "generated/", "tests/house/", "spec/ops/", "spec/errata/")):
            continue
        met = [(1, path)]
        if path.endswith((*CODE, ".py", ".j2")):
            met += [(line, word) for _, word, line in tokens(path, text)]
        met += list(comments(path, text))
        for line, said in met:
            for word in parts_of(said):
                if word in RETIRED:
                    out.append(f"{path}:{line}: {word}, which is {RETIRED[word]}")
    return out
