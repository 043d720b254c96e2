"""Tables of the judge's verdicts on faithful computations: by operator family, variant, regime, type or operator."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

PASSES = ("exact", "within", "in-set")
NEITHER = ("open", "mistrusted")


@dataclass(frozen=True)
class Judged:
    """One judged case; its name has the parts FORM/OPERATOR-OPSET[_NAME]/TYPE/REGIME/VARIANT."""

    form: str
    op: str
    type: str
    regime: str
    variant: str
    verdict: str
    utilisation: float | None
    elements: int
    open: int
    detail: str

    @classmethod
    def of(cls, case: dict[str, Any]) -> Judged:
        form, op, kind, regime = case["kind"].split("/")
        facts = case.get("judged") or {}
        return cls(form, op, kind, regime, case["name"], case["verdict"].split("(")[0], case.get("utilisation"),
                   facts.get("elements", 0), facts.get("open", 0), case.get("detail", ""))  # fmt: skip

    @property
    def refused(self) -> bool:
        return self.verdict not in (*PASSES, *NEITHER)

    @property
    def name(self) -> str:
        return f"{self.op}/{self.type}/{self.regime}/{self.variant}"

    @property
    def is_bounded(self) -> bool:
        """True if a bound decided the verdict. Exact results do not show how wide bounds are."""
        return self.verdict in ("within", "in-set") and self.utilisation is not None


KEYS: dict[str, Callable[[Judged], str]] = {
    "form": lambda one: one.form,
    "operator": lambda one: one.op,
    "variant": lambda one: one.variant,
    "regime": lambda one: one.regime,
    "type": lambda one: one.type,
}


def median_utilisation(found: Iterable[Judged]) -> float:
    values = [one.utilisation for one in found if one.is_bounded]
    return statistics.median(values) if values else 0.0


def table(title: str, found: list[Judged]) -> str:
    """A table by one key. Accepted: share of the judged cases. Open elements: share of all. Utilisation: the maximum of
    each case.
    """
    groups: dict[str, list[Judged]] = {}
    for one in found:
        groups.setdefault(KEYS[title](one), []).append(one)
    rows = [(title, "cases", "accepted", "open", "mistrusted", "refused", "open elements", "median", "largest")]
    for name, group in [*sorted(groups.items()), ("all", found)]:
        count = {word: sum(one.verdict == word for one in group) for word in NEITHER}
        refused = sum(one.refused for one in group)
        judged = len(group) - sum(count.values())
        elements, unknown = sum(one.elements for one in group), sum(one.open for one in group)
        largest = max((one.utilisation for one in group if one.is_bounded), default=0.0)
        rows.append((
            name, str(len(group)), f"{100 * (judged - refused) / judged:.2f} %" if judged else "-", str(count["open"]),
            str(count["mistrusted"]), str(refused), f"{100 * unknown / elements:.2f} %" if elements else "-",
            f"{median_utilisation(group):.4f}", f"{largest:.3f}",
        ))  # fmt: skip
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
