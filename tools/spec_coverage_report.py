"""Reports coverage of the spec: a table, each clause that no case reaches, and JSON for the page of make run.

A clause that no case can reach is listed in tests/lines/unreached.yaml, with the reason; it counts as not reached.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tools.spec_coverage import Clause, Coverage

ROOT = Path(__file__).resolve().parent.parent
EXCUSED = ROOT / "tests" / "lines" / "unreached.yaml"
WRITTEN = ROOT / "build" / "report" / "coverage.json"
MIN = 0.98  # minimum share of statements, and of branches
COUNTED = ("spec/**/*.yaml", "reference/structural/*.j2", "codegen/*.py", "conformance/suites/spec/**/*.cases")

Excuses = dict[tuple[str, str], str]  # (path, clause without its line) -> reason why no case reaches it


def excuses() -> Excuses:
    found: Excuses = {}
    for reason in yaml.safe_load(EXCUSED.read_text(encoding="utf-8")):
        for path, clauses in reason["of"].items():
            found |= {(path, clause): reason["why"] for clause in clauses}
    return found


def missed(coverage: Coverage) -> list[Clause]:
    return sorted((c for c, ran in coverage.reached.items() if not ran), key=lambda c: (c.path, c.line, c.node, c.side))


def key(coverage: Coverage, clause: Clause) -> tuple[str, str]:
    return clause.path, coverage.name(clause)


def paths_of(coverage: Coverage) -> list[str]:
    """Returns the paths, worst coverage first."""

    def share(path: str) -> float:
        return min(a / max(b, 1) for a, b in (coverage.share(of, path) for of in ("statements", "sides")))

    return sorted(sorted({c.path for c in coverage.reached}), key=share)


def table(coverage: Coverage) -> Iterator[str]:
    """Yields rows of the files that are not fully covered, and of the total."""
    partly = {clause.path for clause in missed(coverage)}
    for path in [*(path for path in paths_of(coverage) if path in partly), ""]:
        (a, b), (c, d) = coverage.share("statements", path), coverage.share("sides", path)
        shares = f"statements {a:5d} of {b:5d} {a / max(b, 1):7.1%}  sides {c:5d} of {d:5d} {c / max(d, 1):7.1%}"
        yield f"{shares}  {path or 'all'}"


def report(coverage: Coverage, excused: Excuses) -> tuple[list[str], bool]:
    """Returns the lines to print, and True if coverage is sufficient, the rest is excused, and every excuse is used."""
    unreached = missed(coverage)
    unsaid = [clause for clause in unreached if key(coverage, clause) not in excused]
    idle = set(excused) - {key(coverage, clause) for clause in unreached}
    lines = list(table(coverage))
    lines += [f"not reached: {clause} {coverage.text[clause]}" for clause in unsaid]
    lines += [f"{EXCUSED.name} excuses what is reached, or not there: {path} {text}" for path, text in sorted(idle)]
    shares = [coverage.share(of) for of in ("statements", "sides")]
    return lines, not unsaid and not idle and all(a >= MIN * b for a, b in shares)


def state() -> str:
    """Returns a hash of all counted files: if it differs, the measured coverage is outdated."""
    digest = hashlib.sha256()
    for pattern in COUNTED:
        for file in sorted(ROOT.glob(pattern)):
            digest.update(f"{file.relative_to(ROOT)}\n".encode() + file.read_bytes())
    return digest.hexdigest()


def as_json(coverage: Coverage, excused: Excuses, cases: int) -> dict[str, Any]:
    shares = {of: coverage.share(of) for of in ("statements", "sides")}
    by_path: dict[str, list[dict[str, str]]] = {path: [] for path in paths_of(coverage)}
    for clause in missed(coverage):
        why = excused.get(key(coverage, clause), "no reason is given")
        by_path[clause.path].append({"clause": str(clause), "text": coverage.text[clause], "reason": why})
    files = [
        {"path": path} | {of: coverage.share(of, path) for of in ("statements", "sides")} | {"missed": rows}
        for path, rows in by_path.items()
    ]
    return {"schema": "touchstone.coverage/1", "state": state(), "cases": cases} | shares | {"files": files}


def write(coverage: Coverage, excused: Excuses, cases: int) -> None:
    WRITTEN.parent.mkdir(parents=True, exist_ok=True)
    WRITTEN.write_text(json.dumps(as_json(coverage, excused, cases), indent=1) + "\n", encoding="utf-8")


def for_page() -> Path | None:
    """Returns the output of make coverage, if it matches the current files."""
    if not WRITTEN.exists() or json.loads(WRITTEN.read_text(encoding="utf-8"))["state"] != state():
        return None
    return WRITTEN
