"""Coverage of the spec: which statements of the definitions, and which sides of their conditions, the cases reach.

The cases are the pinned suite, the literal ones of the entries and the spec suite, on the reference. Kernels are
written for it (codegen --counted): comments in them say which clause of the spec each line and each side stands for,
and gcov says what ran. A statement is reached where all of its C++ ran, in one kernel at least; what is decided when
kernels are compiled (a type) has no C++ that runs, and is not counted.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from codegen.emit_cases import emit, load_releases
from codegen.load import load_spec
from tests.lines.probe import outcomes

ROOT = Path(__file__).resolve().parent.parent
SUITE = Path.home() / ".cache/touchstone/suites/1.23.2"
KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted")
LEAST = 0.98
EXCUSED = ROOT / "tests" / "lines" / "unreached.yaml"
LINE = re.compile(r'//#line (\d+) "(.*)"')
SIDE = re.compile(r'//#side \d+ (\d+) "(.*?)" (\d+) (\w+) (.*)')
BARE = re.compile(r"[{}();]*(else )?\{?")

Hits = dict[Path, dict[int, int]]  # file -> line -> how often it ran


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


def run_all_cases(build: Path) -> None:
    """Each program leaves its counts behind when it ends."""
    emit(load_spec(ROOT / "spec"), load_releases(ROOT / "spec"), build / "cases")
    program = build / "tests" / "cases" / "run_cases"
    for folder in [*(SUITE / kind for kind in KINDS), build / "cases"]:
        subprocess.run([program, folder], check=True, stdout=subprocess.DEVNULL)
    files = sorted((ROOT / "conformance" / "suites" / "spec").rglob("*.cases"))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    valid = (re.sub(r" ![\w./-]+$", "", line) for line in lines)
    died = [row for row in outcomes(build / "tests" / "lines" / "lines_probe", valid) if "died" in row]
    if died:
        raise RuntimeError(f"{len(died)} lines ended the reference, and what ran with them is not counted")


def counts_of(build: Path, data: Iterable[Path]) -> Iterator[tuple[Path, dict]]:
    """What gcov says of each file in each object, by the file's whole path."""

    def of(one: Path) -> bytes:
        command = ["gcov", "--json-format", "--stdout", str(one)]
        return subprocess.run(command, capture_output=True, cwd=build, check=True).stdout

    with ThreadPoolExecutor(2) as pool:
        for text in pool.map(of, data):
            for document in map(json.loads, text.splitlines()):
                for file in document["files"]:
                    yield (Path(document["current_working_directory"]) / file["file"]).resolve(), file


def hits_of(build: Path, kernels: Path) -> Hits:
    hits: Hits = defaultdict(lambda: defaultdict(int))
    for path, file in counts_of(build, sorted((build / "reference").rglob("*.gcda"))):
        if path.parent == kernels:
            for line in file["lines"]:
                hits[path][line["line_number"]] += line["count"]
    return hits


def count(coverage: Coverage, header: Path, hits: dict[int, int], spec_line: Callable[[Clause], str]) -> None:
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
                    coverage.add(clause, hits[number + after] > 0, text)
        elif stripped.startswith(("work = ", "void run(", "template <")):
            place = None
        elif place and number in hits and not BARE.fullmatch(stripped):
            ran[place].append(hits[number] > 0)
    for clause, all_ in ran.items():
        if all_:
            coverage.add(clause, all(all_), spec_line(clause))


def measure(build: Path) -> Coverage:
    kernels = build / "generated" / "reference" / "kernels"
    hits = hits_of(build, kernels)
    texts: dict[str, list[str]] = {}

    def spec_line(clause: Clause) -> str:
        lines = texts.setdefault(clause.path, (ROOT / clause.path).read_text(encoding="utf-8").splitlines())
        return lines[clause.line - 1].strip()

    coverage = Coverage()
    for header in sorted(kernels.glob("*.h")):
        count(coverage, header, hits.get(header, {}), spec_line)
    return coverage


def excuses() -> dict[str, list[str]]:
    """Path -> clauses that no case can reach."""
    found: dict[str, list[str]] = defaultdict(list)
    for reason in yaml.safe_load(EXCUSED.read_text(encoding="utf-8")) or [] if EXCUSED.exists() else []:
        for path, clauses in reason["of"].items():
            found[path] += clauses
    return found


def table(coverage: Coverage) -> Iterator[str]:
    """Files that are not reached as a whole, worst first, and all together."""

    def share(path: str) -> float:
        return min(a / max(b, 1) for a, b in (coverage.share(of, path) for of in ("statements", "sides")))

    paths = sorted({c.path for c, ran in coverage.reached.items() if not ran}, key=share)
    for path in [*paths, ""]:
        (a, b), (c, d) = coverage.share("statements", path), coverage.share("sides", path)
        shares = f"statements {a:5d} of {b:5d} {a / max(b, 1):7.1%}  sides {c:5d} of {d:5d} {c / max(d, 1):7.1%}"
        yield f"{shares}  {path or 'spec/'}"


def report(coverage: Coverage, excused: dict[str, list[str]]) -> tuple[list[str], bool]:
    """What to print, and whether enough is reached and no excuse is idle."""
    lines = list(table(coverage))
    missed = [clause for clause, ran in coverage.reached.items() if not ran]
    for clause in sorted(missed, key=lambda c: (c.path, c.line, c.node, c.side)):
        if coverage.name(clause) not in excused.get(clause.path, []):
            lines.append(f"not reached: {clause} {coverage.text[clause]}")
    idle = idle_excuses(coverage, missed, excused)
    lines += [f"reached, or not there, but {EXCUSED.name} excuses it: {one}" for one in idle]
    shares = [coverage.share(of) for of in ("statements", "sides")]
    return lines, not idle and all(a >= LEAST * b for a, b in shares)


def idle_excuses(coverage: Coverage, missed: Iterable[Clause], excused: dict[str, list[str]]) -> list[str]:
    known = {(clause.path, coverage.name(clause)) for clause in missed}
    return [f"{path} {text}" for path, texts in excused.items() for text in texts if (path, text) not in known]
