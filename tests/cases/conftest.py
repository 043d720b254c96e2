"""Fixture of the case tests: one entry given as YAML text, and the cases that it emits."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.emit_cases import Case, all_cases, load_releases
from codegen.load import load_spec

SPEC = Path(__file__).parents[2] / "spec"


@pytest.fixture
def cases_of(tmp_path: Path) -> Callable[[str], dict[str, Case]]:
    """Returns a function from the YAML text of one entry (operator Toy) to its cases, keyed '<since>/<name>'."""

    def make(text: str) -> dict[str, Case]:
        root = tmp_path / "spec"
        (root / "ops" / "ai.onnx").mkdir(parents=True, exist_ok=True)
        for name in ("schema.json", "type_groups.yaml", "releases.yaml"):
            shutil.copy(SPEC / name, root / name)
        (root / "ops" / "ai.onnx" / "Toy.yaml").write_text(text, encoding="utf-8")
        cases = all_cases(load_spec(root), load_releases(root))
        return {f"{case.version.since}/{case.name}": case for case in cases}

    return make
