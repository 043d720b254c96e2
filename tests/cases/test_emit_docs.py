"""Emission of the documentation pages: the golden specimen, and a page for every operator that links to its entry."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from codegen.emit_docs import emit, page_of
from codegen.entry import Operator
from codegen.load import load_spec
from codegen.questions import Note, load_notes
from codegen.witnesses import Witness

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "codegen" / "golden"
TOY = """\
op: Toy
form: elementwise
doc: Adds `gain` | to every element.
versions:
  - {since: 9, inherits: 7, deprecated: true}
  - {since: 7, inherits: 3, types: {T: [+bfloat16], U: [+uint8]}}
  - since: 3
    inherits: 1
    outputs: {y: {element: type(to)}}
    require:
      C1: {that: rank(x) > 0 or gain > 0, else: x needs a dimension, meaningless: Q017}
    semantics: |
      # Twice.
      y[i] = x[i] + gain
    open: {Q017: what_has_no_gain}
    also:
      turned:
        by: those who begin with `gain`
        semantics: |
          y[i] = gain + x[i]
    cases:
      nothing: {x: {type: float, shape: [0]}, y: {type: float, shape: [0]}}
      large: {x: [.inf], names: ["a`b"], y: [.inf]}
  - since: 2
    inherits: 1
    structural: toy
  - since: 1
    doc: Does what it likes.
    inputs:
      x: {type: T}
      low: {type: T, optional: lowest(T)}
      more: {type: U, variadic: true, homogeneous: false, least: 0}
    outputs: {y: {type: T, shape: shape(x)}, z: {type: "seq(float)", optional: true}}
    attributes: {gain: {type: float, default: 1e-3}, names: {type: strings}, to: {type: int, required: true}}
    types: {T: [floats], U: [int8]}
"""

NOTES = [
    Note("Q017", "A gain that is | no number", ["Toy-3", "Toy-7"], "open", {}, [], "spec/questions/Q017-a-gain.md", ""),
    Note("E004", "Of another operator", ["Other-1"], "ruled", {}, [], "spec/errata/E004-other.md", ""),
]


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> list[Operator]:
    root = tmp_path_factory.mktemp("toy") / "spec"
    (root / "ops" / "ai.onnx").mkdir(parents=True)
    for name in ("schema.json", "type_groups.yaml"):
        shutil.copy(ROOT / "spec" / name, root / name)
    (root / "ops" / "ai.onnx" / "Toy.yaml").write_text(TOY, encoding="utf-8")
    return load_spec(root)


@pytest.mark.parametrize(
    ("golden", "product"),
    [("doc_operator.md", "ai.onnx/Toy.md"), ("doc_index.md", "README.md"), ("doc_support.md", "support.md")],
)
def test_golden(golden: str, product: str, toy: list[Operator], tmp_path: Path) -> None:
    emit(toy, tmp_path, NOTES, {"Toy-3": [Witness("suite", 1, "1.2.1/node/test_toy")]})
    assert (tmp_path / product).read_text(encoding="utf-8") == (GOLDEN / golden).read_text(encoding="utf-8")


def test_a_second_run_writes_nothing_and_old_pages_go(toy: list[Operator], tmp_path: Path) -> None:
    emit(toy, tmp_path)
    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.md")}
    old = tmp_path / "ai.onnx" / "Gone.md"
    old.write_text("gone")
    emit(toy, tmp_path)
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.md")} == before


def test_every_operator_has_a_page_and_every_link_leads_somewhere(tmp_path: Path) -> None:
    operators = load_spec(ROOT / "spec")
    emit(operators, tmp_path, load_notes(ROOT / "spec", operators))
    for operator in operators:
        text = (tmp_path / page_of(operator)).read_text(encoding="utf-8")
        for version in operator.versions:
            assert f"\n## {version.name}\n" in text
            assert f"{version.path}#L{version.line})" in text
    for page in tmp_path.rglob("*.md"):
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            place = page.parent / target
            in_spec = target.startswith("../") and (ROOT / target.replace("../", "")).is_file()
            assert in_spec or place.is_file(), f"{page}: {target}"
