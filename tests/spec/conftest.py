"""Fixtures of the spec tests: the entries of this tree, loaded once, and a scratch spec for mistakes on purpose."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.entry import Operator
from codegen.load import load_spec

SPEC = Path(__file__).parents[2] / "spec"


@pytest.fixture(scope="session")
def operators() -> list[Operator]:
    return load_spec(SPEC)


@pytest.fixture
def load_entry(tmp_path: Path) -> Callable[[str], Operator]:
    """Returns a function that loads one entry, given as YAML text, from a spec that holds nothing else."""

    def load(text: str, file: str = "Toy.yaml") -> Operator:
        root = tmp_path / "spec"
        (root / "ops" / "ai.onnx").mkdir(parents=True, exist_ok=True)
        for name in ("schema.json", "type_groups.yaml"):
            shutil.copy(SPEC / name, root / name)
        (root / "ops" / "ai.onnx" / file).write_text(text, encoding="utf-8")
        return load_spec(root)[0]

    return load
