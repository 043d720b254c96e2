"""Coverage of the spec is measured faithfully: a planted operator and template are compiled as by make coverage and
run.

Coverage must report exactly the clauses and branches that the data do not reach.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codegen.template_sides import with_sides
from tools.spec_coverage import Coverage, measure

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
ENTRY = """\
op: Planted
form: elementwise
doc: Squares each element of `x`, and turns round the negative ones before.
versions:
  - since: 1
    inputs: {x: {type: T}}
    outputs: {y: {type: T, shape: shape(x)}}
    types: {T: [float]}
    require:
      C1: {that: "size(shape(x)) == 1 and dim(x, 0) > 0", else: x must be a vector with an element}
    semantics: |
      let bent = if x[i] < 0 then -x[i] else x[i]
      when dim(x, 0) > 3:
        y[i] = bent
      else:
        y[i] = bent * bent
"""
TEMPLATE = """\
#include "reference/facts.h"

namespace touchstone::structural {

int run_planted(const Facts& facts, int size) {
  facts.require(size < 6, "C1", "size < 6", "there are too many", "spec/x.yaml:1", \
[&] { return values_text("size", size); });
  if (size > 1 && size < 4)
    return 1;
  return 0;
}

}  // namespace touchstone::structural

namespace touchstone::openings {
int never() { return 2; }
}  // namespace touchstone::openings
"""
FLAGS = ["-std=c++20", "-O0", "--coverage", "-fprofile-exclude-files=^/usr/.*", "-w"]
LIBRARIES = [
    "reference/libtouchstone_reference.a",
    "reference/images/libtouchstone_images.a",
    "model/libtouchstone_model.a",
    "model/libtouchstone_proto.a",
    "core/libtouchstone_core.a",
]


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one operator and one template, compiled with instrumentation."""
    folder = tmp_path_factory.mktemp("planted")
    (folder / "spec/ops/ai.onnx").mkdir(parents=True)
    for name in ("schema.json", "types.yaml", "type_groups.yaml", "primitives.yaml"):
        shutil.copy(ROOT / "spec" / name, folder / "spec" / name)
    (folder / "spec/ops/ai.onnx/Planted.yaml").write_text(ENTRY)
    out = folder / "build/generated"
    for module, *words in (("emit_schema",), ("emit_kernels", "--counted"), ("emit_primitives",)):
        run(sys.executable, "-m", f"codegen.{module}", "--spec", folder / "spec", "--out", out, *words)
    run(sys.executable, "-m", "codegen.emit_types", "--out", out)
    made = with_sides(TEMPLATE, TEMPLATE, "reference/structural/planted.cc.j2")
    for file, text in (
        ("reference/structural/planted.cc.j2", TEMPLATE),
        (out / "reference/structural/planted.cc", made),
    ):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    objects = folder / "build/reference"
    objects.mkdir()
    for source in (out / "reference/native/Planted.cc", out / "reference/structural/planted.cc"):
        run("g++", *FLAGS, f"-I{out}", f"-I{ROOT}", "-c", source, cwd=objects)
    run("g++", *FLAGS[:2], "-w", f"-I{ROOT}", f"-I{out}", ROOT / "tests/lines/planted_main.cc",
        out / "model/schema_table.cc", *objects.glob("*.o"), "--coverage", "-Wl,--start-group",
        *(BUILD / name for name in LIBRARIES), "-Wl,--end-group", "-lprotobuf-lite", "-lre2",
        "-lutf8proc", "-lpthread", "-o", folder / "planted")  # fmt: skip
    return folder


def reached(planted: Path, *vectors: str) -> Coverage:
    for old in planted.rglob("*.gcda"):
        old.unlink()
    run(planted / "planted", *vectors)
    return measure(planted / "build", planted)


def missed(coverage: Coverage) -> set[str]:
    """Line and branch of each missed clause of the entry or template."""
    return {f"{Path(c.path).name}:{c.line} {c.side}".strip() for c, ran in coverage.reached.items() if not ran}


ALL = ("1,-2", "1,2,3,4,-5", "-1,1,1,1", "0", "", "1,1,1,1,1,1,1")


def test_all_is_reached(planted: Path) -> None:
    coverage = reached(planted, *ALL)
    assert missed(coverage) == set()
    assert coverage.share("statements") == (9, 9)
    assert coverage.share("sides") == (10, 10)


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        (("1,2", "1,2,3,4,5", "0", "", "1,1,1,1,1,1,1"), {"Planted.yaml:12 true"}),
        (("-1,-2", "-1,-2,-3,-4,-5", "-1", "", "1,1,1,1,1,1,1"), {"Planted.yaml:12 false"}),
        (("1,-2", "-1", "", "1,1,1,1,1,1,1"), {"Planted.yaml:13 true", "Planted.yaml:14"}),
        (ALL[:-1], {"planted.cc.j2:6 false"}),
        (
            ("1,-2,3,4,5", "", "1,1,1,1,1,1,1"),
            {"Planted.yaml:13 false", "Planted.yaml:16", "planted.cc.j2:7 true", "planted.cc.j2:8"},
        ),
        (("1,-2", "1,-2,3,4", "0", "1,1,1,1,1,1,1"), {"Planted.yaml:10 false"}),
    ],
)
def test_what_no_case_reaches_is_named(planted: Path, vectors: tuple[str, ...], said: set[str]) -> None:
    assert missed(reached(planted, *vectors)) == said


def test_templates_that_share_a_unit_share_no_function() -> None:
    """Several templates are compiled as one translation unit, where a function has one definition."""
    names = ["reference/structural/one.cc.j2", "reference/structural/other.cc.j2"]
    heads = [re.findall(r"static bool (\w+)\(", with_sides(TEMPLATE, TEMPLATE, name)) for name in names]
    assert [len(found) for found in heads] == [2, 2]
    assert not set(heads[0]) & set(heads[1])
