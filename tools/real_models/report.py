"""Writes the results as text, as JSON and as a page linked from the conformance report."""

from __future__ import annotations

import json
from pathlib import Path

import jinja2

from tools.real_models.results import Judged, ModelRun

STYLE = Path(__file__).resolve().parents[2] / "conformance" / "report" / "page" / "page.css"
MARK = "<!-- real models -->"
MAX_LISTED = 20


def number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2g}"


def counted(judged: Judged) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in sorted(judged.verdicts.items()))


def looked_at(judged: Judged) -> str:
    if not judged.sampled:
        return f"{judged.elements} elements"
    return f"{judged.looked_at} elements looked at, of {judged.elements} ({judged.sampled} nodes by a sample)"


def judged_lines(judged: Judged) -> list[str]:
    lines = [
        f"  {judged.runtime}: {judged.nodes} nodes judged ({counted(judged)}), "
        f"{100 * judged.share:.2f} % of {looked_at(judged)}, median resolution {number(judged.resolution)}"
    ]
    if judged.where:
        lines.append(f"    most of a bound used: {judged.utilisation:.3g} at {judged.where}")
    for text in judged.guilty[:MAX_LISTED]:
        lines.append(f"    wrong: {text}")
    if len(judged.guilty) > MAX_LISTED:
        lines.append(f"    wrong: {len(judged.guilty) - MAX_LISTED} more, in the page")
    return lines


def text(run: ModelRun) -> list[str]:
    lines = [f"{run.name}: {run.about}"]
    if run.error:
        lines.append(f"  broke off: {run.error}")
    for judged in run.judged:
        if judged.verdicts:
            lines += judged_lines(judged)
    for row in run.distances:
        lines.append(f"  output '{row.output}': {row.text}")
    if run.flat_equal and run.inlined:
        lines.append(f"  {run.inlined} branches laid flat; the same bits: {'; '.join(run.flat_equal)}")
    if run.reference_seconds:
        timed = run.allowed_seconds is not None
        allowed = f", {run.allowed_seconds:.0f} at most at rest" if timed else ", writing every value"
        lines.append(
            f"  seconds a step: reference {run.reference_seconds:.2f} on one core{allowed}; "
            f"ONNX Runtime {run.onnxruntime_seconds:.3f} on one thread"
        )
    return lines


def write_json(runs: list[ModelRun], file: Path, code: int) -> None:
    document = {"schema": "touchstone.real/1", "code": code, "models": [run.as_json() for run in runs]}
    file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def write_page(runs: list[ModelRun], file: Path) -> None:
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters |= {"number": number, "counted": counted, "looked_at": looked_at}
    page = environment.get_template("models.html.j2")
    style = STYLE.read_text(encoding="utf-8")
    file.write_text(page.render(runs=runs, style=style), encoding="utf-8")


def link_from(index: Path, page: Path) -> None:
    """Adds a link to this page to the conformance page, once."""
    if not index.is_file():
        return
    content = index.read_text(encoding="utf-8")
    if MARK in content or "</header>" not in content:
        return
    link = f'{MARK}<p><a href="{page.name}">Real models, node by node</a></p>\n</header>'
    index.write_text(content.replace("</header>", link, 1), encoding="utf-8")
