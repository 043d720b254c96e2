"""Tests each pattern on its examples: it matches, the new graph is valid, and its outputs are the same.

An exact pattern must keep every bit. For the others, if the optimized graph of an example is a single node, the judge
checks the old graph's outputs against that node's entry. All other examples are written so that none of their
arithmetic rounds, and must keep every bit too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
import yaml
from onnx import numpy_helper

from tests.codes.graphs import has_judge, output_of

ROOT = Path(__file__).resolve().parents[2]
PATTERNS: dict[str, dict[str, Any]] = {
    file.stem: yaml.safe_load(file.read_text(encoding="utf-8"))
    for file in sorted((ROOT / "transform" / "optimize" / "patterns").glob("*.yaml"))
}
EXAMPLES = [(name, k) for name, pattern in PATTERNS.items() for k in range(len(pattern["examples"]))]
REPLACING = [(name, k) for name, k in EXAMPLES if "replace" in PATTERNS[name]]
FEEDS = range(-5, 6)
SIZES = {"n": 2, "m": 3}


@dataclass(frozen=True)
class Example:
    folder: Path
    model: onnx.ModelProto
    optimized: onnx.ModelProto
    changes: dict[str, int]  # by pattern


def example(name: str, k: int, folder: Path, *options: str) -> Example:
    pattern = PATTERNS[name]
    model = onnx.parser.parse_model(pattern["examples"][k])
    onnx.save(model, folder / "model.onnx")
    (folder / "data").mkdir()
    random = np.random.default_rng(k)
    for position, value in enumerate(model.graph.input):
        shape = [dim.dim_value or SIZES[dim.dim_param] for dim in value.type.tensor_type.shape.dim]
        array = random.choice(pattern.get("feeds", FEEDS), shape).astype(np.float32)
        (folder / "data" / f"input_{position}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
    chosen = options or ("--level", "none", "--pass", name, "--pass", "drop-dead")
    told = output_of("optimize", folder / "model.onnx", "-o", folder / "optimized.onnx", "--json", *chosen)
    changes = {row["pattern"]: row["changes"] for row in json.loads(told)["changes"]}
    return Example(folder, model, onnx.load(folder / "optimized.onnx"), changes)


def outputs(example: Example, name: str) -> list[bytes]:
    out = example.folder / f"out-{name}"
    output_of("run", example.folder / f"{name}.onnx", "--test-data", example.folder / "data", "--output-dir", out)
    count = len(example.model.graph.output)
    return [numpy_helper.to_array(onnx.load_tensor(out / f"output_{k}.pb")).tobytes() for k in range(count)]


@pytest.mark.parametrize(("name", "k"), REPLACING)
def test_a_pattern_is_found_and_means_the_same(name: str, k: int, tmp_path: Path) -> None:
    made = example(name, k, tmp_path)
    assert made.changes.get(name, 0) > 0, made.changes
    output_of("check", tmp_path / "optimized.onnx")
    onnx.checker.check_model(made.optimized, full_check=True)
    assert [value.name for value in made.optimized.graph.output] == [value.name for value in made.model.graph.output]
    before, after = outputs(made, "model"), outputs(made, "optimized")
    if PATTERNS[name]["exact"] or before == after:
        assert before == after
        return
    assert len(made.optimized.graph.node) == 1, "neither exact nor one node: what should judge it?"
    if not has_judge():
        pytest.skip("this build has no judge")
    for file in (tmp_path / "out-model").glob("output_*.pb"):
        (tmp_path / "data" / file.name).write_bytes(file.read_bytes())
    output_of("judge", tmp_path / "optimized.onnx", "--test-data", tmp_path / "data")


@pytest.mark.parametrize(("name", "k"), EXAMPLES)
def test_a_pattern_that_is_off_finds_nothing(name: str, k: int, tmp_path: Path) -> None:
    for off in (name, PATTERNS[name]["pass"]):
        (tmp_path / off).mkdir(exist_ok=True)
        made = example(name, k, tmp_path / off, "--level", "all", "--no-pass", off)
        assert name not in made.changes


def test_what_is_kept_as_written_is_not_folded(tmp_path: Path) -> None:
    kept = [(name, k) for name, k in EXAMPLES if PATTERNS[name]["pass"] == "keep-as-written"]
    assert kept
    for number, (name, k) in enumerate(kept):
        (tmp_path / str(number)).mkdir()
        made = example(name, k, tmp_path / str(number), "--level", "basic")
        assert len(made.optimized.graph.node) == len(made.model.graph.node), name
        (tmp_path / f"{number}-off").mkdir()
        folded = example(name, k, tmp_path / f"{number}-off", "--no-pass", PATTERNS[name]["pass"])
        assert len(folded.optimized.graph.node) < len(folded.model.graph.node), name
        for off in ((), ("fold-quantised",), ("fold-weights",), ("fold-quantised", "fold-weights")):
            (tmp_path / f"{number}-all-{len(off)}{off[:1]}").mkdir()
            options = [word for each in off for word in ("--no-pass", each)]
            made = example(name, k, tmp_path / f"{number}-all-{len(off)}{off[:1]}", "--level", "all", *options)
            assert (len(made.optimized.graph.node) < len(made.model.graph.node)) == (len(off) < 2), (name, off)


@pytest.mark.parametrize(("name", "k"), [e for e in EXAMPLES if PATTERNS[e[0]]["pass"] == "fold-weights"])
def test_wanted_weights_are_folded_at_the_highest_level(name: str, k: int, tmp_path: Path) -> None:
    for number, (options, nodes) in enumerate(
        [(("--level", "all"), 1), (("--level", "all", "--no-pass", name), 2), (("--level", "extended"), 2)]
    ):
        (tmp_path / str(number)).mkdir()
        made = example(name, k, tmp_path / str(number), *options)
        assert (len(made.optimized.graph.node) == 1) == (nodes == 1), options
        if nodes == 1:
            assert outputs(made, "model") == outputs(made, "optimized")


def table() -> list[str]:
    """Returns the table of docs/passes.md, from the command's current output."""
    rows = ["| pass | pattern | level | exact | what it does |", "|---|---|---|---|---|"]
    for one in json.loads(output_of("optimize", "--list", "--json"))["passes"]:
        for row in [one, *one["patterns"]]:
            names = f"`{one['name']}` | " if row is one else f"| `{row['name']}` "
            rows.append(f"| {names}| {row['level']} | {'yes' if row['exact'] else 'no'} | {row['doc']} |")
    return rows


def test_the_page_has_the_table_of_today() -> None:
    page = (ROOT / "docs" / "passes.md").read_text(encoding="utf-8")
    written = [line for line in page.splitlines() if line.startswith("|")]
    assert written == table(), "\n".join(["docs/passes.md should have:", *table()])
