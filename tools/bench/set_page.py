"""Makes the page of a benched set: one HTML file without scripts or other files, light and dark.

python -m tools.bench.set_page NEW.json [--before OLD.json] [-o index.html]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from statistics import median
from typing import Any

from tools.bench.table import shortened

FOLDER = Path(__file__).parent
STYLES = (FOLDER.parents[1] / "conformance" / "report" / "page" / "page.css", FOLDER / "set_page.css")
# Kernel classes (optimized/plan/kernel_class.h) by the color of their bar; `generic` and `layout` are of model_set.py.
COLORS = {
    "convolution": "convolution plain-convolution winograd narrow-convolution depthwise transposed-convolution".split(),
    "matmul": "matmul dynamic-matmul matrix-vector contract".split(),
    "pointwise": "pointwise reduce".split(),
    "rows": "row-kernel recurrent fourier".split(),
    "window": "pool resample".split(),
    "copies": "copy view layout".split(),
    "generic": ["generic"],
    "reference": ["reference"],
}
LEGEND = {
    "convolution": "convolutions",
    "matmul": "matmuls",
    "pointwise": "pointwise, reductions",
    "rows": "normalizations, recurrent layers, subgraphs",
    "window": "pools, resampling",
    "copies": "copies, changes of layout",
    "generic": "generic kernels",
    "reference": "reference kernels",
}
NOTE = (
    "A ratio is the peer's time divided by ours: above 1, ours is faster. It has a color if its quartiles agree. "
    "“Apart” is the largest difference of outputs from ours, relative to the largest element: a hint, no verdict."
)
NOTABLE = 0.05  # relative change of a ratio that is colored


def color_of(kind: str) -> str:
    return next((color for color, kinds in COLORS.items() if kind in kinds), "copies")


def milliseconds(seconds: float) -> str:
    """Returns a time in three significant digits or whole milliseconds."""
    value = seconds * 1e3
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def table(head: str, body: str, kind: str = "") -> str:
    columns = "".join(
        f"<th{' class=number' if name.endswith(' ') else ''}>{name.strip()}</th>" for name in head.split("|")
    )
    return f"<table{kind}><thead><tr>{columns}</tr></thead>{body}</table>"


def first_ratio(heat: dict[str, Any]) -> float:
    """Returns the ratio to the first peer that has one: the order of models on the page."""
    return next((row["ratio"]["median"] for row in heat["runtimes"] if "ratio" in row), float("inf"))


def ratio_cell(row: dict[str, Any]) -> str:
    if "ratio" not in row:
        return "<td class=number></td>"
    ratio = row["ratio"]
    kind = "better" if ratio["low"] > 1 else "worse" if ratio["high"] < 1 else ""
    spread = f"{ratio['low']:.2f} to {ratio['high']:.2f}"
    return f'<td class="number {kind}" title="quartiles {spread}">{ratio["median"]:.2f}</td>'


def rows_of(heat: dict[str, Any]) -> Iterator[str]:
    times = [row["seconds"]["median"] for row in heat["runtimes"] if row["valid"]]
    longest = max(times, default=1.0)
    for k, row in enumerate(heat["runtimes"]):
        title = f'<th rowspan="{len(heat["runtimes"])}">{escape(heat["model"])}</th>' if k == 0 else ""
        name = f"<td class=runtime>{escape(row['runtime'])}</td>"
        if not row["valid"]:
            why = f"<span class=fail>{escape(row['fall'])}</span> {escape(shortened(row['why']))}"
            yield f'<tr>{title}{name}<td colspan="7">{why}</td></tr>'
            continue
        seconds = row["seconds"]
        bar = "ours" if k == 0 else "second" if k > 1 else ""
        width = 100 * seconds["median"] / longest
        apart = row["distance"]
        apart = "" if k == 0 else "unlike" if apart is None else f"{apart:.1e}"
        yield (
            f"<tr>{title}{name}"
            f'<td class=bars><div class="{bar}" style="width:{width:.2f}%"></div></td>'
            f"<td class=number>{milliseconds(seconds['median'])}</td>{ratio_cell(row)}"
            f"<td class=number>{milliseconds(median(row['load_seconds']))}</td>"
            f"<td class=number>{milliseconds(seconds['first'])}</td>"
            f"<td class=number>{row['bytes']['peak'] / 1e6:.0f}</td><td class=number>{apart}</td></tr>"
        )


def times(found: dict[str, Any], threads: int) -> str:
    heats = sorted((heat for heat in found["heats"] if heat["threads"] == threads), key=first_ratio)
    body = "".join(f"<tbody class=model>{''.join(rows_of(heat))}</tbody>" for heat in heats)
    head = "model|runtime|median time|ms |ratio |load ms |first ms |peak MB |apart "
    return f"<h2>Times on {threads} thread{'s' * (threads > 1)}, slowest beside its peer first</h2>{table(head, body)}"


def means(found: dict[str, Any]) -> str:
    body = "".join(
        f"<tr><td>{escape(mean['runtime'])}</td><td class=number>{mean['threads']}</td>"
        f"<td class=number>{mean['models']}</td><td class=number>{mean['ratio']:.3f}</td>"
        f"<td class=number>{mean['least']:.3f}</td><td>{escape(mean['least_model'])}</td></tr>"
        for mean in found["means"]
    )
    return table("peer|threads |models |geometric mean of ratios |least |of", f"<tbody>{body}</tbody>")


def stack(kinds: dict[str, float], total: float) -> str:
    spent = {color: sum(kinds.get(kind, 0) for kind in of) for color, of in COLORS.items()}
    parts = "".join(
        f'<span class={color} style="width:{100 * time / total:.2f}%" '
        f'title="{LEGEND[color]} {100 * time / total:.1f} %"></span>'
        for color, time in spent.items()
        if time > 0
    )
    return f"<div class=stack>{parts}</div>"


def classes(found: dict[str, Any], threads: int) -> str:
    body = ""
    for model, by_threads in sorted(found["kernels"].items()):
        if str(threads) not in by_threads:
            continue
        one = by_threads[str(threads)]
        total = one["microseconds"] or 1
        named = [f"{kind} {100 * spent / total:.0f} %" for kind, spent in one["kinds"].items() if spent / total >= 0.05]
        slow = "<br>".join(
            f"{100 * node['microseconds'] / total:.1f} % {escape(node['node'])}: {escape(node['why'])}"
            for node in one["slow"]
        )
        slow = f"<br><small class=slow>{slow}</small>" if slow else ""
        body += (
            f"<tr><th>{escape(model)}</th><td class=bars>{stack(one['kinds'], total)}</td>"
            f"<td class=number>{milliseconds(total / 1e6)}</td><td>{', '.join(named)}{slow}</td></tr>"
        )
    legend = "".join(f"<span><i class={color}></i>{text}</span>" for color, text in LEGEND.items())
    head = f"<h2>Time by kernel class, fast on {threads} thread{'s' * (threads > 1)}</h2><p class=legend>{legend}</p>"
    return head + table("model|share|ms |of it", f"<tbody>{body}</tbody>", " class=classes")


def figures_of(found: dict[str, Any]) -> dict[tuple[str, int, str], tuple[float, float | None]]:
    """Returns the median time and the ratio by model, threads and runtime."""
    return {
        (heat["model"], heat["threads"], row["runtime"]): (
            row["seconds"]["median"],
            row["ratio"]["median"] if "ratio" in row else None,
        )
        for heat in found["heats"]
        for row in heat["runtimes"]
        if row["valid"]
    }


def difference(found: dict[str, Any], before: dict[str, Any]) -> str:
    """Compares ratios, not times: a machine that is slower today is so for all runtimes."""
    now, then = figures_of(found), figures_of(before)
    ours = {(model, threads): figures[0] for (model, threads, _), figures in reversed(now.items())}
    ours_then = {(model, threads): figures[0] for (model, threads, _), figures in reversed(then.items())}
    rows = []
    for (model, threads, runtime), (_, ratio) in now.items():
        old = then.get((model, threads, runtime), (0.0, None))[1]
        if ratio is not None and old is not None:
            rows.append((ratio / old, model, threads, runtime, old, ratio))
    body = ""
    for change, model, threads, runtime, old, ratio in sorted(rows):
        kind = "better" if change > 1 + NOTABLE else "worse" if change < 1 - NOTABLE else ""
        body += (
            f"<tr><th>{escape(model)}</th><td class=number>{threads}</td><td>{escape(runtime)}</td>"
            f"<td class=number>{old:.2f}</td><td class=number>{ratio:.2f}</td>"
            f'<td class="number {kind}">{100 * (change - 1):+.1f} %</td>'
            f"<td class=number>{milliseconds(ours_then[model, threads])}</td>"
            f"<td class=number>{milliseconds(ours[model, threads])}</td></tr>"
        )
    text = f"Ratios of the run before ({escape(before['machine'])}) and of this one; above 0 % ours became faster."
    head = "model|threads |peer|ratio before |ratio now |change |our ms before |our ms now "
    return f"<h2>Difference of two runs</h2><p>{text}</p>{table(head, f'<tbody>{body}</tbody>')}"


def page_of(found: dict[str, Any], before: dict[str, Any] | None = None) -> str:
    threads = sorted({heat["threads"] for heat in found["heats"]})
    runtimes = {row["runtime"]: row for heat in found["heats"] for row in heat["runtimes"] if row["version"]}
    facts = [
        f"{found['machine']}; load {found['load'][0]} before, {found['load'][1]} after; {found['seconds']} s for each "
        f"runtime; times to load are medians of {found['loads']}",
        *(f"{name}: {row['version']}, {row['settings']}" for name, row in runtimes.items()),
    ]
    errors = "".join(f"<tr><th>{escape(name)}</th><td>{escape(why)}</td></tr>" for name, why in found["errors"].items())
    sections = [
        means(found),
        f"<h2>Models without figures</h2><table><tbody>{errors}</tbody></table>" if errors else "",
        *(times(found, number) for number in threads),
        *(classes(found, number) for number in threads),
        difference(found, before) if before else "",
    ]
    style = "\n".join(file.read_text(encoding="utf-8") for file in STYLES)
    title = f"Bench of {escape(found['set'])}"
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="color-scheme" content="light dark">\n<title>{title}</title>\n<style>\n{style}</style>\n</head>\n'
        f"<body>\n<header><h1>{title}</h1>{''.join(f'<p>{escape(fact)}</p>' for fact in facts)}"
        f"<p>{NOTE}</p>"
        f"</header>\n<main>\n{chr(10).join(section for section in sections if section)}\n</main>\n</body>\n</html>\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools.bench.set_page", description=__doc__.splitlines()[0])
    parser.add_argument("figures", type=Path)
    parser.add_argument("--before", type=Path, help="figures of another run, to compare with")
    parser.add_argument("-o", "--out", type=Path, default=Path("index.html"))
    args = parser.parse_args()
    before = json.loads(args.before.read_text(encoding="utf-8")) if args.before else None
    args.out.write_text(page_of(json.loads(args.figures.read_text(encoding="utf-8")), before), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
