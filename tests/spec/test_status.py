"""docs/spec-status.md matches the present entries."""

from __future__ import annotations

from pathlib import Path

from codegen.emit_status import status
from codegen.load import load_spec
from codegen.witnesses import load_found

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_as_new_as_the_entries() -> None:
    page = (ROOT / "docs" / "spec-status.md").read_text(encoding="utf-8")
    fresh = status(load_spec(ROOT / "spec"), load_found(ROOT / "spec"))
    assert page == fresh, "run: python -m codegen.emit_status --spec spec --out docs/spec-status.md"
