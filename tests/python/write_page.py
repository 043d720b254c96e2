"""Writes docs/from-onnxruntime.md: python -m tests.python.write_page"""

from __future__ import annotations

from tests.python.built import ROOT

PAGE = ROOT / "docs" / "from-onnxruntime.md"

if __name__ == "__main__":
    from touchstone import compat

    PAGE.write_text(compat.page(), encoding="utf-8")
