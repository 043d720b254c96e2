"""Benches every model of a folder next to peers, one model after the other: `make bench SET=DIR`.

`touchstone bench` does the timing, `touchstone run --profile` tells the time of each kernel class. Each model's figures
are kept as they come, so that a run that was stopped goes on. The figures of the run before become previous.json.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from tools.bench.set_inputs import InputsError, specs_of, write_sets
from tools.bench.set_page import page_of
from tools.bench.table import table_of

ROOT = Path(__file__).resolve().parents[2]
PEERS = ("onnxruntime", "openvino")
INPUT_SETS = 3  # take turns, so that a kept result does not help
PROFILES = 3  # the fastest one counts: a step that the machine disturbs would distort the shares
SLOW_SHOWN = 5  # reference nodes of a model in the figures


@dataclass
class Options:
    build: Path
    against: list[str]
    threads: list[int]
    seconds: float = 3.0
    loads: int = 3
    rest: list[str] = field(default_factory=list)  # options of `touchstone bench`


def installed(peers: Iterable[str]) -> list[str]:
    """Returns the peers whose environment is there; the others are named on stderr."""
    found = []
    for peer in peers:
        if peer not in PEERS or (ROOT / f".venv-{peer}" / "bin" / "python").exists():
            found.append(peer)
        else:
            print(f"bench: {peer} is not installed and left out (tools/setup.sh {peer})", file=sys.stderr)
    return found


def numbers_of_threads() -> list[int]:
    return sorted({1, len(os.sched_getaffinity(0))})


def object_of(command: list[str], file: Path) -> dict[str, Any]:
    """Returns the object that a command writes into a file, also if it is an error."""
    file.unlink(missing_ok=True)
    code = subprocess.run([*command, "--json", str(file)], stdout=subprocess.DEVNULL, check=False).returncode
    if not file.is_file():
        return {"error": f"{Path(command[0]).name} {command[1]} ended with {code} and wrote nothing"}
    return json.loads(file.read_text(encoding="utf-8"))


def time_by_class(report: dict[str, Any]) -> dict[str, Any]:
    """Sums the times of a `run --profile --placement` by kernel class; what belongs to no node only copies."""
    kernels = report["placement"]["kernels"]
    kinds: Counter[str] = Counter()
    for node in kernels["nodes"]:
        kinds["generic" if node["class"] == "generic" else node["kind"]] += node.get("microseconds", 0)
    total = max(kernels["microseconds"], sum(kinds.values()))
    kinds["layout"] = total - sum(kinds.values())
    slow = sorted(
        (node for node in kernels["nodes"] if node["class"] == "reference"),
        key=lambda node: -node.get("microseconds", 0),
    )
    return {
        "microseconds": total,
        "kinds": {kind: spent for kind, spent in kinds.most_common() if spent > 0},
        "counts": kernels["counts"],
        "slow": [
            {"node": node["node"], "why": node["why"], "microseconds": node.get("microseconds", 0)}
            for node in slow[:SLOW_SHOWN]
        ],
    }


def bench_model(model: Path, specs: dict[str, Any] | None, options: Options, scratch: Path) -> dict[str, Any]:
    """Returns the figures of one model: the bench's object and the time by kernel class, or an error."""
    touchstone = str(options.build / "touchstone")
    threads = ",".join(map(str, options.threads))
    command = [touchstone, "bench", str(model), "--no-judge", "--threads", threads]
    for word, number in (("--seconds", options.seconds), ("--loads", options.loads)):
        command += [] if word in options.rest else [word, str(number)]
    command += ["--against", ",".join(options.against)] if options.against else []
    fed = ["--random"]
    if specs is not None:
        try:
            feeds = write_sets(specs, scratch, INPUT_SETS)
        except InputsError as error:
            return {"model": model.stem, "error": str(error)}
        command += ["--feeds", str(feeds)]
        first = json.loads(feeds.read_text(encoding="utf-8"))["sets"][0]
        fed = [word for name, file in first.items() for word in ("--input", f"{name}={file}")]
    found = object_of([*command, *options.rest], scratch / "bench.json")
    if "heats" not in found:
        return {"model": model.stem, "error": found.get("message") or found.get("error", "no figures")}
    row: dict[str, Any] = {"model": model.stem, "bench": found, "kernels": {}}
    for number in options.threads:
        command = [touchstone, "run", str(model), "--runtime", "fast", "--threads", str(number), *fed]
        command += ["--placement", "--profile", str(scratch / "trace.json")]
        reports = [object_of(command, scratch / "run.json") for _ in range(PROFILES)]
        if found := [time_by_class(report) for report in reports if "placement" in report]:
            row["kernels"][str(number)] = min(found, key=lambda each: each["microseconds"])
    return row


def means_of(heats: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the geometric means of the ratios by runtime and number of threads, as `touchstone bench` has them."""
    found: dict[tuple[str, int], list[tuple[float, str]]] = {}
    for heat in heats:
        for row in heat["runtimes"]:
            if "ratio" in row:
                ratios = found.setdefault((row["runtime"], heat["threads"]), [])
                ratios.append((row["ratio"]["median"], heat["model"]))
    return [
        {
            "runtime": runtime,
            "threads": threads,
            "models": len(ratios),
            "ratio": geometric_mean(ratio for ratio, _ in ratios),
            "least": min(ratios)[0],
            "least_model": min(ratios)[1],
        }
        for (runtime, threads), ratios in sorted(found.items(), key=lambda each: (each[0][1], each[0][0]))
    ]


def merged(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the figures of a whole set, with the fields of `touchstone.bench/1` that are for all models."""
    benches = [row["bench"] for row in rows if "bench" in row]
    heats = [heat for bench in benches for heat in bench["heats"]]
    return {
        "schema": "touchstone.bench-set/1",
        "set": name,
        "machine": benches[0]["machine"] if benches else "",
        "load": [benches[0]["load"][0], benches[-1]["load"][1]] if benches else ["", ""],
        "seconds": benches[0]["seconds"] if benches else 0,
        "loads": benches[0]["loads"] if benches else 0,
        "roofs": [],
        "heats": heats,
        "means": means_of(heats),
        "kernels": {row["model"]: row["kernels"] for row in rows if "bench" in row},
        "errors": {row["model"]: row["error"] for row in rows if "error" in row},
    }


def rows_so_far(file: Path, settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the rows of a run that was stopped, if it had these settings."""
    if not file.is_file():
        return []
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return lines[1:] if lines and lines[0] == settings else []


def bench_set(folder: Path, only: list[str], options: Options, out: Path) -> int:
    """Benches the models of a folder and writes bench.json and index.html into `out`."""
    models = sorted(file for file in folder.glob("*.onnx") if not only or file.stem in only)
    if not models:
        print(f"error: no .onnx files{' of these names' if only else ''} in '{folder}'", file=sys.stderr)
        return 7
    try:
        specs = specs_of(folder)
    except InputsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 7
    out.mkdir(parents=True, exist_ok=True)
    settings = {
        "against": options.against,
        "threads": options.threads,
        "seconds": options.seconds,
        "loads": options.loads,
        "rest": options.rest,
        "models": [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in models],
    }
    kept = out / "rows.jsonl"
    rows = rows_so_far(kept, settings)
    if not rows:
        kept.write_text(json.dumps(settings) + "\n", encoding="utf-8")
    done = {row["model"] for row in rows}
    for model in models:
        if model.stem in done:
            continue
        with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
            rows.append(bench_model(model, specs.get(model.stem), options, Path(scratch)))
        with kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps(rows[-1]) + "\n")
    figures, before = out / "bench.json", out / "previous.json"
    if figures.is_file():
        figures.replace(before)
    found = merged(folder.resolve().name, rows)
    figures.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    earlier = json.loads(before.read_text(encoding="utf-8")) if before.is_file() else None
    page = out / "index.html"
    page.write_text(page_of(found, earlier), encoding="utf-8")
    kept.unlink()
    print(table_of(found))
    for name, why in found["errors"].items():
        print(f"{name}: {why}")
    print(f"\nfigures: {figures}\npage: {page}")
    return 4 if found["errors"] else 0
