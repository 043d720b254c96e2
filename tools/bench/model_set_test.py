"""Tests benches of sets of models: inputs, figures, what goes on after a stop, and the page."""

from __future__ import annotations

import json
import os
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest

from conformance.report.browser import Browser, executable
from tools.bench import model_set
from tools.bench.model_set import Options, bench_set, means_of, merged, rows_so_far, time_by_class
from tools.bench.set_inputs import InputsError, array_of, specs_of, write_sets
from tools.bench.set_page import color_of, page_of

BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", "build")).resolve()
KERNEL_CLASSES = Path(__file__).resolve().parents[2] / "optimized" / "plan" / "kernel_class.h"
RIGHT = f"command:{sys.executable} {Path(__file__).with_name('bad_runtime.py')} right"
DOUBLE = """
<ir_version: 8, opset_import: ["": 16]>
g (float[n, 3] x) => (float[n, 3] y) { y = Add (x, x) }
"""


def spec(fill: Any, shape: tuple[int, ...] = (2, 3), dtype: str = "float32", **more: Any) -> dict[str, Any]:
    return {"shape": list(shape), "dtype": dtype, "fill": fill, **more}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (spec("zeros"), [[0, 0, 0]] * 2),
        (spec("ones", dtype="bool"), [[True] * 3] * 2),
        (spec("const", value=2.5), [[2.5] * 3] * 2),
        (spec(7, (), "int64"), 7),
        (spec("arange", dtype="int64", start=4), [[4, 5, 6]] * 2),
        (spec("choice", (2,), "string", values=["a"]), ["a", "a"]),
        (spec("randint", (2,), "int64", low=3, high=4), [3, 3]),
        (spec("randint:1", (2,), "int32"), [0, 0]),
    ],
)
def test_a_fill_that_is_not_random(given: dict[str, Any], expected: Any) -> None:
    made = array_of(given, np.random.default_rng(1))
    assert np.array_equal(made, np.array(expected))
    assert made.shape == tuple(given["shape"])
    assert given["dtype"] == "string" or made.dtype == np.dtype(given["dtype"])


@pytest.mark.parametrize("fill", ["randn", "rand", "words"])
def test_random_fills_differ_by_seed_alone(fill: str) -> None:
    given = spec(fill, dtype="string" if fill == "words" else "float16")
    first, again, other = (array_of(given, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)


@pytest.mark.parametrize(
    "given", [spec("sideways"), {"shape": [2]}, spec("randint", dtype="int64"), spec("const"), spec("ones", dtype="no")]
)
def test_what_gives_no_array_is_named(given: dict[str, Any]) -> None:
    with pytest.raises(InputsError, match="no array follows from"):
        array_of(given, np.random.default_rng(1))


def test_sets_are_written_with_any_name_of_an_input(tmp_path: Path) -> None:
    feeds = write_sets({"a/b:0": spec("randn"), "c": spec("ones")}, tmp_path, 2)
    first, second = json.loads(feeds.read_text())["sets"]
    assert list(first) == ["a/b:0", "c"]
    assert not np.array_equal(np.load(first["a/b:0"]), np.load(second["a/b:0"]))
    assert np.array_equal(np.load(first["c"]), np.load(second["c"]))


def test_a_file_of_inputs_may_be_missing_and_must_be_of_its_form(tmp_path: Path) -> None:
    assert specs_of(tmp_path) == {}
    for text in ("[", "[]", '{"m": 1}'):
        (tmp_path / "inputs.json").write_text(text)
        with pytest.raises(InputsError):
            specs_of(tmp_path)


def test_times_by_class_add_up() -> None:
    nodes = [
        {"node": "a", "class": "tuned", "kind": "matmul", "microseconds": 5},
        {"node": "b", "class": "generic", "kind": "row-kernel", "microseconds": 2},
        {"node": "c", "class": "reference", "kind": "reference", "microseconds": 1, "why": "so"},
        {"node": "d", "class": "folded", "kind": ""},
    ]
    found = time_by_class({"placement": {"kernels": {"nodes": nodes, "counts": {}, "microseconds": 10}}})
    assert found["kinds"] == {"matmul": 5, "generic": 2, "layout": 2, "reference": 1}
    assert found["slow"] == [{"node": "c", "why": "so", "microseconds": 1}]


def test_every_kernel_class_has_a_color() -> None:
    names = [line.split('"')[1] for line in KERNEL_CLASSES.read_text().splitlines() if 'return "' in line]
    names.remove("")
    assert {name for name in names if color_of(name) == "copies"} == {"copy", "view"}


def heat(model: str, ratio: float, ours: float = 0.01) -> dict[str, Any]:
    def row(runtime: str, seconds: float, **more: Any) -> dict[str, Any]:
        times = {"median": seconds, "p95": seconds, "least": seconds, "first": seconds, "runs": 3, "rounds": 3}
        return {
            "runtime": runtime, "version": "1", "settings": "", "valid": True, "fall": "", "why": "",
            "load_seconds": [0.5], "judged": 0, "distance": 0, "seconds": times,
            "bytes": {"peak": 10**6, "before": 0, "library": 0}, **more,
        }  # fmt: skip

    peer = row("peer", ours * ratio, ratio={"median": ratio, "low": ratio, "high": ratio}, distance=None)
    fallen = {**row("fallen", 1), "valid": False, "fall": "crashed", "why": "<b>signal</b> " + 200 * "11 "}
    return {"model": model, "threads": 1, "runtimes": [row("fast", ours), peer, fallen]}


def figures(**ratios: float) -> dict[str, Any]:
    kinds = {"microseconds": 10, "kinds": {"matmul": 9.0, "reference": 1.0}, "counts": {}}
    slow = [{"node": "'<i>' (Einsum)", "why": "no", "microseconds": 1.0}]
    rows: list[dict[str, Any]] = [
        {
            "model": name,
            "bench": {"machine": "m", "load": ["1", "2"], "seconds": 3, "loads": 3, "heats": [heat(name, ratio)]},
            "kernels": {"1": kinds | {"slow": slow}},
        }
        for name, ratio in ratios.items()
    ]
    return merged("some", [*rows, {"model": "broken", "error": "no <such> operator"}])


def test_figures_of_models_are_merged() -> None:
    found = figures(a=1.0, b=4.0)
    assert [each["model"] for each in found["heats"]] == ["a", "b"]
    (mean,) = means_of(found["heats"])
    assert (mean["runtime"], mean["models"], mean["least"], mean["least_model"]) == ("peer", 2, 1.0, "a")
    assert round(mean["ratio"], 9) == 2
    assert found["errors"] == {"broken": "no <such> operator"}


class Tags(HTMLParser):
    """Collects the tags, texts and attributes of a page."""

    def __init__(self, page: str):
        super().__init__()
        self.seen: list[str] = []
        self.values: list[str] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.values += [value or "" for _, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_needs_nothing_else_and_escapes_names() -> None:
    page = page_of(figures(a=0.5, b=2.0), figures(a=1.0, b=2.0))
    tags = Tags(page)
    assert not {"script", "link", "img", "iframe", "b", "i>"} & set(tags.seen)
    assert "http" not in page and "url(" not in page and "@import" not in page
    assert "prefers-color-scheme: dark" in page
    assert "no <such> operator" in tags.texts and any("'<i>' (Einsum)" in text for text in tags.texts)
    assert [text for text in tags.texts if text.endswith(" %")] == ["matmul 90 %, reference 10 %"] * 2 + [
        "-50.0 %",
        "+0.0 %",
    ]
    # The model that is slowest beside the peer comes first, and the longest bar is whole.
    assert tags.texts.index("a") < tags.texts.index("b")
    assert tags.values.count("width:100.00%") == 2


@pytest.mark.skipif(executable() is None, reason="no Chromium is installed")
def test_bars_are_shown_and_the_page_fits(tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    page.write_text(page_of(figures(a=0.5, b=2.0), figures(a=1.0)), encoding="utf-8")
    widths = "[...document.querySelectorAll('.bars div')].map(e => e.getBoundingClientRect().width)"
    with Browser(executable() or "") as browser:
        browser.open(page)
        assert min(browser.ask(widths)) > 0
        assert browser.ask("document.documentElement.scrollWidth <= innerWidth")


def test_a_stopped_run_goes_on_with_the_same_settings(tmp_path: Path) -> None:
    kept = tmp_path / "rows.jsonl"
    assert rows_so_far(kept, {"threads": [1]}) == []
    kept.write_text('{"threads": [1]}\n{"model": "a"}\n')
    assert rows_so_far(kept, {"threads": [1]}) == [{"model": "a"}]
    assert rows_so_far(kept, {"threads": [2]}) == []


def test_peers_that_are_not_installed_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(model_set, "ROOT", tmp_path)
    python = tmp_path / ".venv-openvino" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert model_set.installed(["onnxruntime", "openvino", "direct"]) == ["openvino", "direct"]
    assert "onnxruntime is not installed" in capsys.readouterr().err


def test_a_folder_is_benched_and_the_run_before_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = tmp_path / "models", tmp_path / "out"
    folder.mkdir()
    options = Options(BUILD, [RIGHT], [1], seconds=0.001, loads=1)
    assert bench_set(folder, [], options, out) == 7
    onnx.save(onnx.parser.parse_model(DOUBLE), folder / "double.onnx")
    onnx.save(onnx.parser.parse_model(DOUBLE), folder / "unfed.onnx")
    (folder / "broken.onnx").write_bytes(b"no model")
    inputs = {"double": {"x": spec("randn", (4, 3))}, "unfed": {"z": spec("ones")}}
    (folder / "inputs.json").write_text(json.dumps(inputs))
    assert bench_set(folder, [], options, out) == 4
    found = json.loads((out / "bench.json").read_text())
    assert found["schema"] == "touchstone.bench-set/1"
    assert [(each["model"], each["threads"]) for each in found["heats"]] == [("double", 1)]
    ours, peer = found["heats"][0]["runtimes"]
    assert ours["valid"] and peer["valid"] and peer["distance"] == 0
    assert ours["bytes"]["peak"] > 0 and len(ours["load_seconds"]) == 1 and ours["seconds"]["first"] > 0
    assert set(found["errors"]) == {"broken", "unfed"}
    assert found["errors"]["unfed"] == "the model has no input 'z'"
    assert found["kernels"]["double"]["1"]["counts"]["tuned"] == 1
    assert not (out / "rows.jsonl").exists() and not (out / "previous.json").exists()
    assert "| double | 1 | fast |" in capsys.readouterr().out
    assert bench_set(folder, ["double"], options, out) == 0
    assert json.loads((out / "previous.json").read_text()) == found
    assert "Difference of two runs" in (out / "index.html").read_text()
