"""Measures coverage of the spec: the statements of definitions and the branches of their conditions that cases reach.

The cases are the pinned suite, the literal ones of the entries, the spec suite and some graphs, on the reference.
Instrumented kernels (codegen --counted) have comments that map each line and branch to a clause of the spec, and gcov
counts executions. A statement is reached if all of its C++ ran, in at least one kernel. Conditions decided at compile
time (a type) have no C++ that runs, and are not counted.

In a handwritten template (reference/structural/) each line is a statement, and each `if` and each rule has two
branches. Code for the judge alone (namespace openings) is not counted.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from codegen.emit_cases import emit, load_releases
from codegen.load import load_spec
from codegen.template_sides import ENDS, OPENS
from conformance.suites.spec_lines import suite_lines
from tests.cases import graphs

ROOT = Path(__file__).resolve().parent.parent
SUITE = Path.home() / ".cache/touchstone/suites/1.23.2"
KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted")
SHARES, SECONDS = 8, "600"  # shards of the lines; max. seconds of one line
LINE = re.compile(r'//#line (\d+) "(.*)"')
SIDE = re.compile(r'//#side \d+ (\d+) "(.*?)" (\d+) (\w+) (.*)')
BARE = re.compile(r"[{}();]*(else )?\{?")

OF_TEMPLATE = re.compile(r"(.*)  //#(\d+)")
# Function heads, and the reports of violated rules.
NOT_STATEMENTS = re.compile(r"(\w|  explicit ).*\{$|.* = \[&\] \{$|\s*\[&\] \{ return values_text\(")

Hits = dict[int, int]  # line -> how often it ran


@dataclass(frozen=True)
class Clause:
    path: str
    line: int
    node: int  # number in the line: 0 is the statement, others are its conditions
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
        """Returns the number of reached clauses and of all clauses, for statements or branches."""
        all_ = [ran for c, ran in self.reached.items() if bool(c.side) == (of == "sides") and path in ("", c.path)]
        return sum(all_), len(all_)

    def name(self, clause: Clause) -> str:
        """Returns a name without the line number, which changes."""
        return f"never {clause.side}: {self.text[clause]}" if clause.side else self.text[clause]


def run_all_cases(build: Path) -> int:
    """Runs all cases; returns their number. A program writes its counts when it ends; one that crashes writes none and
    raises."""
    emit(load_spec(ROOT / "spec"), load_releases(ROOT / "spec"), build / "cases")
    graphs.write(build / "graphs")
    asked = [re.sub(r" ![\w./-]+$", "", line) for line in suite_lines()]

    def run(folder: Path | None, share: int = 0) -> int:
        """Runs the cases of a folder, or a shard of the lines; returns their number."""
        programs = build / "tests"
        command = (
            [programs / "cases" / "run_cases", folder] if folder else [programs / "lines" / "lines_probe", SECONDS]
        )
        text = "" if folder else "".join(f"{line}\n" for line in asked[share::SHARES])
        return subprocess.run(command, input=text.encode(), check=True, stdout=subprocess.PIPE).stdout.count(b"\n")

    folders = [build / "cases", build / "graphs", *(SUITE / kind for kind in KINDS)]
    jobs: list[tuple[Path | None, int]] = [*((folder, 0) for folder in folders), *((None, k) for k in range(SHARES))]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        ran = sum(pool.map(run, *zip(*jobs, strict=True)))
    return ran


def counts_of(build: Path, data: Iterable[Path]) -> Iterator[tuple[Path, dict]]:
    """Yields gcov's data of each file in each object, with the file's absolute path."""

    def of(one: Path) -> bytes:
        command = ["gcov", "--json-format", "--stdout", str(one)]
        return subprocess.run(command, capture_output=True, cwd=build, check=True).stdout

    with ThreadPoolExecutor(2) as pool:
        for text in pool.map(of, data):
            for document in map(json.loads, text.splitlines()):
                for file in document["files"]:
                    yield (Path(document["current_working_directory"]) / file["file"]).resolve(), file


def hits_of(build: Path, data: Iterable[Path], folders: Iterable[Path]) -> dict[Path, Hits]:
    """Returns the line counts of the files in these folders."""
    hits: dict[Path, Hits] = defaultdict(lambda: defaultdict(int))
    for path, file in counts_of(build, data):
        if path.parent in folders:
            for line in file["lines"]:
                hits[path][line["line_number"]] += line["count"]
    return hits


def count(coverage: Coverage, written: Path, hits: Hits, spec_line: Callable[[Clause], str]) -> None:
    """Adds the clauses of a generated file, found by its comments, to the coverage."""
    rows = written.read_text(encoding="utf-8").splitlines()
    for number, row in enumerate(rows, 1):
        if said := SIDE.match(row.strip()):
            for after, side in ((3, "true"), (4, "false")):
                clause = Clause(said[2], int(said[1]), int(said[3]), side)
                if number + after in hits and (said[4] != "arm" or side == "true"):
                    text = spec_line(clause) if said[4] == "rule" else said[5]
                    coverage.add(clause, hits[number + after] > 0, text)
    ran: dict[Clause, list[bool]] = defaultdict(list)
    for number, clause in statements_of_kernel(rows) if written.suffix == ".h" else statements_by_hand(rows, written):
        if number in hits:
            ran[clause].append(hits[number] > 0)
    for clause, all_ in ran.items():
        coverage.add(clause, all(all_), spec_line(clause))


def statements_of_kernel(rows: Iterable[str]) -> Iterator[tuple[int, Clause]]:
    """Yields the lines of a kernel, with their clauses."""
    place: Clause | None = None
    for number, text in enumerate(map(str.strip, rows), 1):
        if said := LINE.match(text):
            place = Clause(said[2], int(said[1]), 0, "")
        elif text.startswith(("work = ", "void run(", "template <")):
            place = None
        elif place and not BARE.fullmatch(text):
            yield number, place


def statements_by_hand(rows: Iterable[str], written: Path) -> Iterator[tuple[int, Clause]]:
    """Yields the lines that come from a template, with their template lines as clauses."""
    inside = False
    for number, row in enumerate(rows, 1):
        if not (said := OF_TEMPLATE.fullmatch(row)):
            continue
        inside = said[1] == OPENS or (inside and said[1] != ENDS)
        if inside and not NOT_STATEMENTS.match(said[1]) and not BARE.fullmatch(said[1].strip()):
            yield number, Clause(f"reference/structural/{written.name}.j2", int(said[2]), 0, "")


def measure(build: Path, root: Path = ROOT) -> Coverage:
    reference = build / "generated" / "reference"
    folders = (reference / "kernels", reference / "structural")
    hits = hits_of(build, sorted((build / "reference").rglob("*.gcda")), folders)
    texts: dict[str, list[str]] = {}

    def spec_line(clause: Clause) -> str:
        lines = texts.setdefault(clause.path, (root / clause.path).read_text(encoding="utf-8").splitlines())
        return lines[clause.line - 1].strip()

    coverage = Coverage()
    for folder, pattern in zip(folders, ("*.h", "*.cc"), strict=True):
        for written in sorted(folder.glob(pattern)):
            if not hits[written]:
                raise RuntimeError(f"gcov says nothing of {written}")
            count(coverage, written, hits[written], spec_line)
    return coverage
