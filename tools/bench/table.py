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


def row_of(model: str, threads: int, row: dict[str, Any]) -> str:
    """Returns the row of a runtime on a model, with the reason if it has no figure."""
    who = f"| {model} | {threads} | {row['runtime']} |"
    if not row["valid"]:
        why = " ".join(row["why"].split()).replace("|", "\\|")
        return f"{who} {row['fall']}: {why} | | | | | |"
    seconds, ratio = row["seconds"], row.get("ratio")
    figures = [
        f"{seconds['median'] * 1e3:.2f}",
        f"{seconds['p95'] * 1e3:.2f}",
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
    runtimes = {row["runtime"]: row for heat in found["heats"] for row in heat["runtimes"]}
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
