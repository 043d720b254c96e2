"""Writes a product of codegen only where its text changed, so that a build does not compile again what is the same."""

from __future__ import annotations

from pathlib import Path


def write_if_changed(file: Path, text: str) -> bool:
    """True if the file was written."""
    if file.is_file() and file.read_text(encoding="utf-8") == text:
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(file.name + ".new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(file)
    return True
