"""A kernel reuses the run of an earlier one of its operator only if both do the same with the same members."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from codegen.emit_kernels import emit
from codegen.load import load_spec

SPEC = Path(__file__).parent.parent / "spec"

ENTRY = """op: Toy
form: elementwise
doc: A made-up operator.
versions:
  - since: 2
    inputs: {{x: {{type: T}}}}
    outputs: {{z: {{type: T, shape: shape(x)}}}}
    attributes: {{by: {{type: {later}}}}}
    types: {{T: [floats]}}
    require:
      C1: {{that: rank(x) > 0, else: x must have a dimension}}
    semantics: |
      {text}
  - since: 1
    inputs: {{x: {{type: T}}}}
    outputs: {{z: {{type: T, shape: shape(x)}}}}
    attributes: {{by: {{type: ints}}}}
    types: {{T: [floats]}}
    semantics: |
      z[i] = x[i] * size(by)
"""


@pytest.mark.parametrize(
    ("later", "text", "shared"),
    [
        ("ints", "z[i] = x[i] * size(by)", True),
        ("ints", "z[i] = x[i] + size(by)", False),  # another computation
        ("floats", "z[i] = x[i] * size(by)", False),  # the same text, of another type
    ],
)
def test_a_run_is_taken_over_only_where_it_is_the_same(tmp_path: Path, later: str, text: str, shared: bool) -> None:
    for file in SPEC.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    folder = tmp_path / "ops" / "ai.onnx"
    folder.mkdir(parents=True)
    (folder / "Toy.yaml").write_text(ENTRY.format(later=later, text=text))
    emit(load_spec(tmp_path), tmp_path, tmp_path / "out")
    kernels = tmp_path / "out" / "reference" / "kernels"
    first, second = ((kernels / f"Toy_{since}.h").read_text() for since in (1, 2))
    assert "void run(" in first
    assert ("struct Toy_2 : Toy_1<R>" in second) == shared
    assert ("void run(" in second) != shared
    assert '"C1"' in second  # it keeps its own rules
