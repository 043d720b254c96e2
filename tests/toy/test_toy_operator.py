"""One YAML file defines an operator: a toy is added to a scratch copy of the spec, and every product must appear and
agree.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
TOY = """\
op: Toy
form: elementwise
doc: Squares each element of `x`, and scales the negative ones by `slope` before.
versions:
  - since: 1
    inputs: {x: {type: T}}
    outputs: {y: {type: T, shape: shape(x)}}
    attributes: {slope: {type: float, default: 1.0}}
    types: {T: [float16, float, double]}
    require:
      C1: {that: rank(x) > 0, else: x must have a dimension}
    semantics: |
      let bent = if x[i] < 0 then slope * x[i] else x[i]
      y[i] = bent * bent
    cases:
      both_signs: {x: [-2.0, 3.0], slope: 0.5, y: [1.0, 9.0]}
      no_scalar: {x: 1.0, raises: C1}
"""


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the spec with the toy, and all that codegen generates from it."""
    folder = tmp_path_factory.mktemp("toy")
    shutil.copytree(ROOT / "spec", folder / "spec")
    (folder / "spec" / "ops" / "ai.onnx" / "Toy.yaml").write_text(TOY)
    out = folder / "generated"
    for module in ("emit_schema", "emit_kernels", "emit_primitives"):
        run(sys.executable, "-m", f"codegen.{module}", "--spec", folder / "spec", "--out", out)
    run(sys.executable, "-m", "codegen.emit_types", "--out", out)
    return folder


def test_every_product_names_it(scratch: Path) -> None:
    out = scratch / "generated"
    assert '"Toy"' in (out / "model" / "schema_table.cc").read_text()
    assert "run_Toy_1" in (out / "reference" / "registry.cc").read_text()
    assert "bounded_Toy_1" in (out / "reference" / "extended_registry.cc").read_text()
    assert "Toy_1<Opaque>" in (out / "reference" / "opaque.cc").read_text()
    kernel = (out / "reference" / "kernels" / "Toy_1.h").read_text()
    assert 'facts.require((rank(x_) > Index{0}), "C1"' in kernel
    assert "#line 14" in kernel, "a kernel names the line of its entry"


def test_the_semantics_agree(scratch: Path) -> None:
    out = scratch / "generated"
    program = scratch / "toy"
    libraries = [
        "reference/semantics/libtouchstone_extended.a",
        "reference/libtouchstone_reference.a",
        "model/libtouchstone_model.a",
        "model/libtouchstone_proto.a",
        "reference/semantics/libtouchstone_semantics.a",
        "core/libtouchstone_core.a",
    ]
    sources = [
        ROOT / "tests/toy/toy_main.cc",
        out / "reference/native/Toy.cc",
        out / "reference/extended/Toy.cc",
        out / "model/schema_table.cc",
    ]
    run("g++", "-std=c++20", "-O0", "-w", "-ffp-contract=off", f"-I{ROOT}", f"-I{out}", *sources, "-Wl,--start-group",
        *(BUILD / name for name in libraries), "-Wl,--end-group", "-lprotobuf-lite",
        "-lquadmath", "-lpthread", "-o", program)  # fmt: skip
    lines = run(program).splitlines()
    assert lines[0] == "signature Toy-1 form elementwise"
    values = [float(v) for v in lines[1].split()[1:]]
    assert values == [float(f"{v:.9g}") for v in values] and len(values) == 6
    assert values[0] > 0 and abs(values[0] - 1.3225) < 1e-6, "(0.5 * -2.3) squared"
    assert lines[2] == "shape [2,3]"
    assert lines[3] == "bounded holds the native answer"
    assert lines[4] == "exact agrees"
    assert lines[5] == "rule Toy-1/C1: x must have a dimension, but x has shape []"


def test_its_cases_and_its_page(scratch: Path) -> None:
    run(sys.executable, "-m", "codegen.emit_cases", "--spec", scratch / "spec", "--out", scratch / "cases")
    made = sorted(
        str(p.relative_to(scratch / "cases")) for p in (scratch / "cases").rglob("model.onnx") if "Toy" in str(p)
    )
    assert len(made) == 2, made
    run(sys.executable, "-m", "codegen.emit_docs", "--spec", scratch / "spec", "--out", scratch / "docs")
    pages = [p for p in (scratch / "docs").rglob("Toy.md")]
    assert pages and "Toy-1/C1" in pages[0].read_text()


def test_its_fast_kernel(scratch: Path) -> None:
    run(sys.executable, "-m", "codegen.emit_halide", "--spec", scratch / "spec", "--out", scratch / "generated")
    made = list((scratch / "generated" / "optimized").rglob("Toy_1*"))
    assert made, "an elementwise entry has a Halide generator"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("y[i] = bent * nothing", "Toy.yaml:14: Toy-1: nothing here is called nothing"),
        ("y[i] = bent * shape(x)", "Toy.yaml:14: Toy-1: a list and element of T do not add or multiply"),
        ("y[i = bent", "Toy.yaml:14: not in the notation"),
        ("z[i in shape(x)] = bent", "Toy.yaml:7: Toy-1: output y is never defined"),
    ],
)
def test_a_mistake_names_file_and_line(tmp_path: Path, wrong: str, said: str) -> None:
    spec = tmp_path / "spec"
    (spec / "ops" / "ai.onnx").mkdir(parents=True)
    for name in ("schema.json", "types.yaml", "type_groups.yaml", "primitives.yaml"):
        shutil.copy(ROOT / "spec" / name, spec / name)
    (spec / "ops" / "ai.onnx" / "Toy.yaml").write_text(TOY.replace("y[i] = bent * bent", wrong))
    done = subprocess.run(
        [sys.executable, "-m", "codegen.emit_kernels", "--spec", str(spec), "--out", str(tmp_path / "out")],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0 and said in done.stderr, done.stderr[-600:]
