"""make run fails if an outcome of our own targets is unexplained, but not for other targets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tools import run_all


def run(target: str, unexplained: int) -> dict[str, Any]:
    counts = {"verdicts": {"exact": 1}, "compat": {"wrong-value": 1}}
    summary = {"cases": 1, "to_explain": 1, "unexplained": unexplained, "target_fault": 0} | counts
    return {"target": target, "version": "", "suite": "onnx@1.23.2", "summary": summary}


@pytest.mark.parametrize(
    ("runs", "unexplained"),
    [
        ([run("reference", 0), run("fast", 0), run("onnxruntime", 3)], 0),
        ([run("reference", 1), run("fast", 0)], 1),
        ([run("reference", 1), run("fast", 2)], 3),
    ],
)
def test_what_is_unexplained_of_ours_counts(
    runs: list[dict[str, Any]], unexplained: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "conform.json").write_text(json.dumps({"runs": runs}), encoding="utf-8")
    monkeypatch.setattr(run_all, "REPORT", tmp_path)
    assert run_all.summarise() == unexplained
