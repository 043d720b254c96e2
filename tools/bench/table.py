"""Prints the Markdown tables of docs/performance.md from the output of `touchstone bench --json`.

python -m tools.bench.table build/timed/bench.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

HEAD = "| model | threads | runtime | median ms | p95 | ratio (quartiles) | load ms | first ms | peak MB |"


LONGEST = 300  # characters of a reason: some runtimes answer with pages


def shortened(text: str) -> str:
    """Returns the text in one line, cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} .."


def milliseconds(seconds: float) -> str:
    value = seconds * 1e3
    return f"{value:.2f}" if value >= 1 else f"{value:.4f}"


def row_of(model: str, threads: int, row: dict[str, Any]) -> str:
    """Returns the row of a runtime on a model, with the reason if it has no figure."""
    who = f"| {model} | {threads} | {row['runtime']} |"
    if not row["valid"]:
        why = shortened(row["why"]).replace("|", "\\|")
        return f"{who} {row['fall']}: {why} | | | | | |"
    seconds, ratio = row["seconds"], row.get("ratio")
    figures = [
        milliseconds(seconds["median"]),
        milliseconds(seconds["p95"]),
        f"{ratio['median']:.2f} ({ratio['low']:.2f} to {ratio['high']:.2f})" if ratio else "",
        f"{median(row['load_seconds']) * 1e3:.0f}",
        f"{seconds['first'] * 1e3:.0f}",
        f"{row['bytes']['peak'] / 1e6:.0f}",
    ]
    return f"{who} {' | '.join(figures)} |"


def table_of(found: dict[str, Any]) -> str:
    lines = [
        f"{found['machine']}; load {found['load'][0]} before, {found['load'][1]} after; {found['seconds']} s each; "
        f"times to load are medians of {found['loads']}."
    ]
    runtimes = {row["runtime"]: row for heat in found["heats"] for row in heat["runtimes"] if row["version"]}
    lines += [f"{name} {row['version']}: {row['settings']}." for name, row in runtimes.items()]
    for roof in found["roofs"]:
        copied = f"{roof['copy_bytes'] / 1e9:.1f} GB/s copied"
        lines.append(
            f"Roof, {roof['threads']} thread(s): {roof['flops'] / 1e9:.0f} GFLOP/s in {roof['vectors']}, {copied}."
        )
    lines += ["", HEAD, "|" + "---|" * HEAD.count(" | ") + "---|"]
    lines += [row_of(h["model"], h["threads"], row) for h in found["heats"] for row in h["runtimes"]]
    lines += ["", "| against | threads | models | geometric mean | least |", "|---|---|---|---|---|"]
    for mean in found["means"]:
        least = f"{mean['least']:.2f} ({mean['least_model']})"
        lines.append(f"| {mean['runtime']} | {mean['threads']} | {mean['models']} | {mean['ratio']:.2f} | {least} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table_of(json.loads(Path(sys.argv[1]).read_text())))
