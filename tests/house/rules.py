"""Project rules that a machine can check: each is a function from files (path -> text) to a list of violations.

They are pure, so that the test of a rule can plant a violation and check that the rule finds it.
"""

from __future__ import annotations

import io
import re
import subprocess
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

Files = dict[str, str]

ROOMS = ["core", "model", "reference", "transform", "optimized", "conformance", "fuzz", "tools", "python"]
CODE = (".h", ".hpp", ".cc", ".cpp", ".c", ".cu", ".inc")
TEXT = (*CODE, ".py", ".j2", ".yaml", ".md", ".js", ".css", ".html", ".cmake", ".sh", ".txt", ".json", ".in")
SCOPED = {"If", "Loop", "Scan", "SequenceMap"}  # model/ and reference/ must know the operators that hold subgraphs
SCOPED_ROOMS = ("model/", "reference/")


def project_files(root: Path) -> Files:
    """Every text file that is committed or not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True, check=True, text=True
    ).stdout
    names = [
        name for name in listed.split("\0") if name.endswith((*TEXT, "Makefile", "run")) and (root / name).is_file()
    ]
    return {name: (root / name).read_text(encoding="utf-8", errors="replace") for name in names}


def operators(root: Path) -> dict[str, set[int]]:
    """Every operator's name and its versions, from the entries' files."""
    out: dict[str, set[int]] = {}
    for entry in root.glob("spec/ops/*/*.yaml"):
        versions = re.findall(r"\bsince: (\d+)", entry.read_text(encoding="utf-8"))
        out.setdefault(entry.stem, set()).update(map(int, versions))
    return out


def is_test(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    folders = path.split("/")[:-1]
    stem = name.split(".")[0]
    return (
        stem.endswith(("_test", "_probe"))  # a probe: a program that only a test runs
        or stem.startswith(("test_", "bad_"))
        or name in ("conftest.py", "testing.cc", "testing.h")
        or "testdata" in folders
        or folders[:1] == ["tests"]
    )


# Comments first, then raw strings and strings, then identifiers; a number with a digit separator is no character
# literal.
_CPP = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<raw>R\"(?P<d>[^()\s\\]{0,16})\(.*?\)(?P=d)\")|\"(?P<string>(?:\\.|[^\"\\\n])*)\""
    r"|(?P<number>\d[\w.']*)|'(?:\\.|[^'\\\n])*'|(?P<name>[A-Za-z_]\w*)",
    re.DOTALL,
)
_TEMPLATE = re.compile(
    r"(?P<comment>\{#.*?#\}|//[^\n]*)|([\"'])(?P<string>[^\"'\n]*)\2|(?P<name>[A-Za-z_]\w*)", re.DOTALL
)


def tokens(path: str, text: str) -> Iterator[tuple[str, str, int]]:
    """("string" or "name", its text, its line) of C++, Python and templates."""
    if path.endswith(".py"):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING:
                yield "string", token.string.strip("rbfuRBFU").strip("\"'"), token.start[0]
            elif token.type == tokenize.NAME:
                yield "name", token.string, token.start[0]
        return
    for match in (_TEMPLATE if path.endswith(".j2") else _CPP).finditer(text):
        for kind in ("string", "name"):
            if match.group(kind) is not None:
                yield kind, match.group(kind), text.count("\n", 0, match.start()) + 1


def may_name_operators(path: str) -> bool:
    free = (
        "spec/",
        "reference/structural/",
        "optimized/lowering/",
        "transform/optimize/patterns/",
        "codegen/golden/",
        "docs/",
        "tests/",
        "generated/",
    )
    return path.startswith(free) or is_test(path)


def operator_names(files: Files, known: dict[str, set[int]]) -> list[str]:
    """Finds string literals that equal an operator's name, and identifiers <operator>_<version>."""
    squeezed = {name.lower(): versions for name, versions in known.items()}
    out = []
    for path, text in files.items():
        if not path.endswith((*CODE, ".py", ".j2")) or may_name_operators(path):
            continue
        for kind, word, line in tokens(path, text):
            if kind == "string":
                excused = word in SCOPED and path.startswith(SCOPED_ROOMS)
                if word in known and not excused:
                    out.append(f'{path}:{line}: the operator\'s name "{word}"')
            elif (match := re.fullmatch(r"(\w+?)_(\d+)", word)) is not None:
                versions = squeezed.get(match.group(1).replace("_", "").lower(), set())
                if int(match.group(2)) in versions:
                    out.append(f"{path}:{line}: the identifier {word}")
    return out


def include_direction(files: Files) -> list[str]:
    """Checks the direction of includes: core <- model <- reference <- transform <- optimized <- conformance <- fuzz <-
    tools, python.

    backends/ depends on core alone; its dependents include only its interface.
    """
    rank = {room: k for k, room in enumerate(ROOMS)}
    rank |= {"python": rank["tools"], "api": rank["conformance"]}
    out = []
    for path, text in files.items():
        room = path.split("/")[0]
        if not path.endswith(CODE) or room not in (*ROOMS, "backends", "api"):
            continue
        for match in re.finditer(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE):
            to = match.group(1).split("/")[0]
            line = text.count("\n", 0, match.start()) + 1
            if room == "backends":
                wrong = to in ROOMS and to != "core"
            elif to == "backends":
                wrong = rank[room] < rank["optimized"] or match.group(1).count("/") > 1  # only the interface is visible
            else:
                wrong = to in ROOMS and rank[to] > rank[room]
            if wrong or ".." in match.group(1).split("/"):
                out.append(f"{path}:{line}: {room} includes {match.group(1)}")
    return out


def length(files: Files) -> list[str]:
    free = ("spec/errata/", "codegen/golden/", "docs/")
    out = []
    for path, text in files.items():
        counted = path.endswith(
            (*CODE, ".py", ".j2", ".yaml", ".md", ".js", ".css", ".html", ".cmake", "CMakeLists.txt", ".sh")
        )
        lines = text.count("\n") + (not text.endswith("\n"))
        if counted and not path.startswith(free) and lines > 400:
            out.append(f"{path}: {lines} lines, over 400")
    return out


def opening(files: Files) -> list[str]:
    """A file opens with a comment that states its purpose."""
    out = []
    for path, text in files.items():
        if path.endswith((".h", ".hpp", ".cc", ".cpp", ".c")):
            good = text.startswith(("// ", "/* "))
        elif path.endswith(".py"):
            good = not text.strip() or re.match(r'(#![^\n]*\n)?"""\S', text) is not None
        else:
            continue
        if not good:
            out.append(f"{path}: does not open with why it exists")
    return out


_OPENS = re.compile(
    r"\bf(?:re)?open\b|\bf?open(?:at2?|64)\b|\bcreat\s*\(|\b[io]?fstream\b|\bmks?temps?\b|\btmpfile\b|\bfilebuf\b"
    r"|(?<![\w.>:])::\s*open\s*\(|ParseFromFileDescriptor|SYS_open\w*"
)
_BARE_OPEN = re.compile(r"(?<![\w.>:])open\s*\(")


def _cpp_code(text: str) -> str:
    """C++ with comments and literals blanked, line for line."""

    def blank(match: re.Match[str]) -> str:
        if match.group("name") or match.group("number"):
            return match.group(0)
        return re.sub(r"[^\n]", " ", match.group(0))

    return _CPP.sub(blank, text)


def _found(files: Files, paths: Iterable[str], pattern: re.Pattern[str], what: str) -> list[str]:
    out = []
    for path in paths:
        code = _cpp_code(files[path])
        for match in pattern.finditer(code):
            out.append(f"{path}:{code.count(chr(10), 0, match.start()) + 1}: {what} {match.group(0).strip()}")
    return out


def _library_code(files: Files) -> list[str]:
    return [
        path
        for path in files
        if path.endswith(CODE) and path.split("/")[0] in (*ROOMS, "backends") and not is_test(path)
    ]


def opens(files: Files) -> list[str]:
    """Only core/files.cc opens files."""
    paths = [path for path in _library_code(files) if path != "core/files.cc"]
    with_fcntl = [path for path in paths if "<fcntl.h>" in files[path]]  # without it, open() is a function of our own
    return _found(files, paths, _OPENS, "opens a file by") + _found(files, with_fcntl, _BARE_OPEN, "opens a file by")


_PRINTS = re.compile(
    r"\b(?:v?f?printf|f?puts|putchar|perror)\s*\(|\bstd\s*::\s*(?:cout|cerr|clog)\b|\bfmt\s*::\s*print\b"
)


def prints(files: Files) -> list[str]:
    """Only tools/ prints."""
    paths = [path for path in _library_code(files) if not path.startswith("tools/")]
    return _found(files, paths, _PRINTS, "prints by")


_TOLERANCE = re.compile(
    r"\b(?:EXPECT|ASSERT)_(?:NEAR|FLOAT_EQ|DOUBLE_EQ)\b|\b(?:assert_)?allclose\b|\bisclose\b|\bpytest\.approx\b"
)


def tolerances(files: Files) -> list[str]:
    """Tests use no tolerance but the judge's."""
    out = []
    for path, text in files.items():
        if path.endswith((*CODE, ".py")) and is_test(path) and not path.startswith("tests/house/"):
            for match in _TOLERANCE.finditer(text):
                out.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match.group(0)}")
    return out


_OUTSIDE = re.compile(r"\.\./shared\b|/work/|\bshared/(?:design|tools|prototypes|models|hooks)\b")


def outside(files: Files) -> list[str]:
    """A clone is self-contained: no file mentions a folder outside it."""
    out = []
    for path, text in files.items():
        if path.startswith("tests/house/"):
            continue
        for match in _OUTSIDE.finditer(text):
            out.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: speaks of {match.group(0)}")
    return out
