"""The `folder` fixture: a temporary folder for the thousands of small files that these tests write."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture
def folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder in memory where /dev/shm exists, since touchstone syncs each file to disk and these tests write
    thousands.
    """
    if not MEMORY.is_dir():
        yield request.getfixturevalue("tmp_path")
        return
    with tempfile.TemporaryDirectory(dir=MEMORY, prefix="touchstone-codes-") as made:
        yield Path(made)
