"""Reports the campaign's results by operator family, with every mutant that was not refused."""

from __future__ import annotations

import functools
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import yaml

from tests.mutants.emit import Mutant
from tests.mutants.run import Shown

NOT_KNOWN = "for no reason that tests/mutants/survivors.yaml knows"
MIN_REFUSED = 0.97
MAX_CASES = 20  # upper bound of the cases needed to refuse the mutants of a kernel


def what_was_seen(one: Shown) -> str:
    """Describes how a mutant that was not refused differs."""
    differing = Counter(row["verdict"] for row in one.rows)
    if not differing:
        return f"the same bits in {one.cases} cases"
    if set(differing) <= {"open", "mistrusted", "unsupported"}:
        return f"differs only where nothing can be said: {counted(differing)}"
    return f"differs inside the bound: {counted(differing)}"


def counted(verdicts: Counter[str]) -> str:
    return ", ".join(f"{n} {name}" for name, n in sorted(verdicts.items()))


def mutants_report(mutants: list[Mutant], shown: list[Shown], seed: int, fresh: bool) -> tuple[str, list[str]]:
    """The text to print, and the requirements that the judge fails: a fresh draw need not be named one by one."""
    by_name = {m.name: m for m in mutants}
    forms = sorted({m.form for m in mutants})
    lines = ["| form | mutants | refused | share |", "|---|---|---|---|"]
    for form in [*forms, "all"]:
        own = [s for s in shown if form in (by_name[s.name].form, "all")]
        refused = sum(s.refused for s in own)
        lines.append(f"| {form} | {len(own)} | {refused} | {100 * refused / max(1, len(own)):.1f} % |")
    most, kernel = max(refusing_cases(shown))
    lines += ["", f"the mutants of one kernel are refused by at most {most} cases ({kernel})"]
    dropped = len(mutants) - len(shown)
    lines += ["", f"{dropped} edits made no program", ""]
    left: dict[str, list[str]] = defaultdict(list)
    for s in sorted((s for s in shown if not s.refused), key=lambda s: s.name):
        m = by_name[s.name]
        left[why_not_refused(m.identity)].append(f"- {m.identity} [{what_was_seen(s)}] ({m.name}, {m.says})")
    for why, those in sorted(left.items(), key=lambda one: -len(one[1])):
        asks = f"; to explain (repeat with --seed {seed})" if fresh and why == NOT_KNOWN else ""
        lines += [f"{len(those)} not refused: {why}{asks}", *those, ""]
    refused = sum(s.refused for s in shown)
    rate = refused / max(1, refused + len(left[NOT_KNOWN]))
    lines.append(f"{100 * rate:.1f} % are refused of those that survivors.yaml does not name")
    return "\n".join(lines), shortcomings(rate, most, [] if fresh else left[NOT_KNOWN])


def shortcomings(rate: float, most: int, not_known: list[str]) -> list[str]:
    found = [f"{100 * rate:.1f} % are refused, {100 * MIN_REFUSED:.0f} % are asked"] if rate < MIN_REFUSED else []
    found += [f"{most} cases are needed for one kernel, at most {MAX_CASES} are asked"] if most > MAX_CASES else []
    return found + ([f"{len(not_known)} are not refused {NOT_KNOWN}"] if not_known else [])


def refusing_cases(shown: list[Shown]) -> Iterator[tuple[int, str]]:
    """The number of cases needed to refuse the mutants of each kernel."""
    by_kernel: dict[str, set[str]] = defaultdict(set)
    for s in shown:
        by_kernel[s.name.rsplit("_m", 1)[0]] |= {row["case"] for row in s.rows if row["refused"] and "case" in row}
    return ((len(cases), kernel) for kernel, cases in by_kernel.items())


@functools.lru_cache(maxsize=1)
def known_survivors() -> dict[str, str]:
    """Identity of each mutant that survivors*.yaml name, such as "Clip-11: let raised: < -> <=" -> the reason."""
    files = sorted(Path(__file__).parent.glob("survivors*.yaml"))
    rows = [row for file in files for row in yaml.safe_load(file.read_text(encoding="utf-8")) or []]
    return {
        f"{kernel}: {definition}: {change}": row["why"]
        for row in rows
        for kernel in row["kernels"]
        for definition, changes in row["edits"].items()
        for change in changes
    }


def why_not_refused(identity: str) -> str:
    return known_survivors().get(identity, NOT_KNOWN)


def faithful_report(order: str, faithful: list[Mutant], shown: list[Shown], root: Path) -> tuple[str, int]:
    by_name = {m.name: m for m in faithful}
    rows = [(by_name[s.name], row) for s in shown for row in s.rows]
    refused = [(m, row) for m, row in rows if row["refused"]]
    used = [row["utilisation"] for _, row in rows if row.get("utilisation")]
    verdicts = Counter(row["verdict"] for _, row in rows)
    median = f"2^{math.log2(statistics.median(used)):.1f}" if used else "none"
    lines = [f"{order}: {len(shown)} kernels, {len(rows)} cases, {len(refused)} refused ({counted(verdicts)}); "
             f"utilisation where a bound was used: median {median}, largest {max(used, default=0):.3f}"]  # fmt: skip
    for m, row in refused:
        lines.append(
            f"- {m.name} on {row.get('case', '')}: {row['verdict']}: {row.get('detail', '')}".replace(f"{root}/", "")
        )
    return "\n".join(lines), len(refused)
