"""Coverage of the spec: which statements of the definitions, and which sides of their conditions, the cases reach.

The cases are the pinned suite, the literal ones of the entries and the spec suite, on the reference. Kernels are
written for it (codegen --counted): comments in them say which clause of the spec each line and each side stands for,
and gcov says what ran. A statement is reached where all of its C++ ran, in one kernel at least; what is decided when
kernels are compiled (a type) has no C++ that runs, and is not counted.

Of a template by hand (reference/structural) each line is a statement, each test of a condition has two sides, and so
has each rule. What stands there for the judge alone (namespace openings) is not counted.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from codegen.emit_cases import emit, load_releases
from codegen.load import load_spec
from tests.lines.probe import outcomes

ROOT = Path(__file__).resolve().parent.parent
SUITE = Path.home() / ".cache/touchstone/suites/1.23.2"
KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted")
LINE = re.compile(r'//#line (\d+) "(.*)"')
SIDE = re.compile(r'//#side \d+ (\d+) "(.*?)" (\d+) (\w+) (.*)')
BARE = re.compile(r"[{}();]*(else )?\{?")

RULE = re.compile(r"\[&\] \{ return values_text\(")  # says with what a rule is broken: runs where it is
DECIDES = re.compile(r"\bif \(| \? |&&|\|\|")
HEAD = re.compile(r"(\w|  explicit ).*\{$")  # of a function
HAND = ("namespace touchstone::structural {", "}  // namespace touchstone::structural")


@dataclass
class Ran:
    """What gcov says of a line, of all functions in which it stands."""

    times: int = 0
    ways: list[int] = field(default_factory=list)  # of each test: how often it went one way, and the other
    starts: list[int] = field(default_factory=list)  # how often each function ran that starts here

    def add(self, line: dict) -> None:
        self.times += line["count"]
        arcs = line["branches"]
        pairs = zip(arcs[::2], arcs[1::2], strict=True) if len(arcs) % 2 == 0 else ()
        ways = [arc["count"] for pair in pairs if not any(arc["throw"] for arc in pair) for arc in pair]
        self.ways = [a + b for a, b in zip_longest(self.ways, ways, fillvalue=0)]


Hits = dict[int, Ran]  # by line


@dataclass(frozen=True)
class Clause:
    path: str
    line: int
    node: int  # of the line: 0 is the statement, others are its conditions
    side: str  # "", "true", "false"

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" + (f" never {self.side}:" if self.side else "")


@dataclass
class Coverage:
    reached: dict[Clause, bool] = field(default_factory=dict)
    text: dict[Clause, str] = field(default_factory=dict)

    def add(self, clause: Clause, ran: bool, text: str) -> None:
        self.reached[clause] = self.reached.get(clause, False) or ran
        self.text.setdefault(clause, text)

    def share(self, of: str, path: str = "") -> tuple[int, int]:
        """How many are reached, of how many: of statements or of sides."""
        all_ = [ran for c, ran in self.reached.items() if bool(c.side) == (of == "sides") and path in ("", c.path)]
        return sum(all_), len(all_)

    def name(self, clause: Clause) -> str:
        """Without the line, which moves."""
        return f"never {clause.side}: {self.text[clause]}" if clause.side else self.text[clause]


def run_all_cases(build: Path) -> int:
    """How many; each program leaves its counts behind when it ends."""
    ran = 0
    emit(load_spec(ROOT / "spec"), load_releases(ROOT / "spec"), build / "cases")
    program = build / "tests" / "cases" / "run_cases"
    for folder in [*(SUITE / kind for kind in KINDS), build / "cases"]:
        ran += subprocess.run([program, folder], check=True, stdout=subprocess.PIPE).stdout.count(b"\n")
    files = sorted((ROOT / "conformance" / "suites" / "spec").rglob("*.cases"))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    valid = (re.sub(r" ![\w./-]+$", "", line) for line in lines)
    rows = outcomes(build / "tests" / "lines" / "lines_probe", valid)
    if died := [line for line, row in zip(lines, rows, strict=True) if "died" in row]:
        raise RuntimeError(f"these ended the reference, and what ran with them is not counted: {died}")
    return ran + len(lines)


def counts_of(build: Path, data: Iterable[Path]) -> Iterator[tuple[Path, dict]]:
    """What gcov says of each file in each object, by the file's whole path."""

    def of(one: Path) -> bytes:
        command = ["gcov", "--json-format", "--stdout", "--branch-probabilities", str(one)]
        return subprocess.run(command, capture_output=True, cwd=build, check=True).stdout

    with ThreadPoolExecutor(2) as pool:
        for text in pool.map(of, data):
            for document in map(json.loads, text.splitlines()):
                for file in document["files"]:
                    yield (Path(document["current_working_directory"]) / file["file"]).resolve(), file


def hits_of(build: Path, data: Iterable[Path], folders: Iterable[Path]) -> dict[Path, Hits]:
    """Of the files in these folders."""
    hits: dict[Path, Hits] = defaultdict(lambda: defaultdict(Ran))
    for path, file in counts_of(build, data):
        if path.parent in folders:
            for line in file["lines"]:
                hits[path][line["line_number"]].add(line)
            for function in file["functions"]:
                hits[path][function["start_line"]].starts.append(function["execution_count"])
    return hits


def count(coverage: Coverage, header: Path, hits: Hits, spec_line: Callable[[Clause], str]) -> None:
    """What a kernel's comments say its lines stand for."""
    place: Clause | None = None
    ran: dict[Clause, list[bool]] = defaultdict(list)
    rows = header.read_text(encoding="utf-8").splitlines()
    for number, text in enumerate(rows, 1):
        stripped = text.strip()
        if said := LINE.match(stripped):
            place = Clause(said[2], int(said[1]), 0, "")
            ran.setdefault(place, [])
        elif said := SIDE.match(stripped):
            for after, side in ((3, "true"), (4, "false")):
                clause = Clause(said[2], int(said[1]), int(said[3]), side)
                if number + after in hits and (said[4] != "arm" or side == "true"):
                    text = spec_line(clause) if said[4] == "rule" else said[5]
                    coverage.add(clause, hits[number + after].times > 0, text)
        elif stripped.startswith(("work = ", "void run(", "template <")):
            place = None
        elif place and number in hits and not BARE.fullmatch(stripped):
            ran[place].append(hits[number].times > 0)
    for clause, all_ in ran.items():
        if all_:
            coverage.add(clause, all(all_), spec_line(clause))


def count_by_hand(coverage: Coverage, written: Path, template: Path, place: str, hits: Hits) -> None:
    """What was written from a template by hand, line by line; `place`: what the template is called."""
    inside = False
    for number, (text, line) in enumerate(origins(written, template), 1):
        inside = text == HAND[0] or (inside and text != HAND[1])
        ran = hits.get(number)
        if not inside or not ran or HEAD.match(text) or BARE.fullmatch(text.strip()):
            continue
        text = text.strip()
        shown = re.sub(r'("\w*"), ".*", "spec/.*?"', r"\1", text)  # the rule's words stand in the entry
        if RULE.search(text):
            coverage.add(Clause(place, line, 1, "broken"), any(ran.starts), shown)
        if not RULE.match(text):
            coverage.add(Clause(place, line, 0, ""), ran.times > 0, shown)
        if DECIDES.search(shown) and not text.startswith("for "):
            for k, times in enumerate(ran.ways):
                coverage.add(Clause(place, line, 2 + k, f"way {k + 1} of {len(ran.ways)}"), times > 0, shown)


def origins(written: Path, template: Path) -> Iterator[tuple[str, int]]:
    """Each line, and the line of the template that it is from."""
    sources = template.read_text(encoding="utf-8").splitlines()
    patterns = [re.sub(r"\\\{\\\{.*?\\\}\\\}", ".*", re.escape(source)) for source in sources]
    at = 0
    for text in written.read_text(encoding="utf-8").splitlines():
        at = next(k for k in range(at, len(sources)) if re.fullmatch(patterns[k], text)) + 1
        yield text, at


def measure(build: Path, root: Path = ROOT) -> Coverage:
    reference = build / "generated" / "reference"
    data = sorted((build / "reference").rglob("*.gcda"))
    hits = hits_of(build, data, (reference / "kernels", reference / "structural"))
    texts: dict[str, list[str]] = {}

    def spec_line(clause: Clause) -> str:
        lines = texts.setdefault(clause.path, (root / clause.path).read_text(encoding="utf-8").splitlines())
        return lines[clause.line - 1].strip()

    coverage = Coverage()
    for header in sorted((reference / "kernels").glob("*.h")):
        count(coverage, header, hits[header], spec_line)
    for written in sorted((reference / "structural").glob("*.cc")):
        place = f"reference/structural/{written.name}.j2"
        count_by_hand(coverage, written, root / place, place, hits[written])
    if nothing := [str(file) for file, lines in hits.items() if not lines]:
        raise RuntimeError(f"gcov says nothing of {', '.join(nothing)}")
    return coverage
