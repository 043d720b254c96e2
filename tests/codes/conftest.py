"""Where the many files of these tests lie."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture
def folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    """In memory where there is such a place: touchstone waits for the disk after each file, and here are thousands."""
    if not MEMORY.is_dir():
        yield request.getfixturevalue("tmp_path")
        return
    with tempfile.TemporaryDirectory(dir=MEMORY, prefix="touchstone-codes-") as made:
        yield Path(made)
