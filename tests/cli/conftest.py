"""The --update option of the golden tests and their folder of models, made once a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli import models


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write what the command says now into tests/cli/golden")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cli") / "models"
    models.make(out)
    return out
