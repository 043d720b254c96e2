"""Tests the counts: a node without an answer is no pass, a failure of ours fails the run, equal means bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tools.real_models import report
from tools.real_models.results import Judged, ModelRun, distances


def blame(*nodes: tuple[str, float | None]) -> dict[str, Any]:
    rows = []
    for index, (verdict, used) in enumerate(nodes):
        one = {
            "utilisation": used,
            "judged": 8,
            "open": 2,
            "elements": 10 + 90 * (verdict == "exact"),
            "resolution": 1e-6,
        }
        outputs = [one] if verdict != "not-judged" else []
        row = {"path": "", "index": index, "op": "Toy", "verdict": verdict, "detail": "so", "outputs": outputs}
        rows.append(row)
    return {"nodes": rows, "elements": 10 * len(rows), "judged": 8 * len(rows)}


def test_verdicts_are_counted_and_the_largest_use_is_named() -> None:
    one = Judged("reference")
    one.add(blame(("within", 0.25), ("exact", 0.0), ("not-judged", None)), "step 1, ")
    one.add(blame(("within", 0.5), ("open", None)), "step 2, ")
    assert one.verdicts == {"within": 2, "exact": 1, "not-judged": 1, "open": 1}
    assert (one.nodes, one.failed, one.share, one.resolution) == (4, 0, 0.8, 1e-6)
    assert (one.elements, one.looked_at, one.sampled) == (130, 50, 1)
    assert "80.00 % of 50 elements looked at, of 130 (1 nodes by a sample)" in report.judged_lines(one)[0]
    assert (one.utilisation, one.where) == (0.5, "step 2, main graph, node 0 (Toy)")
    assert len(one.unjudged) == 2 and one.guilty == []


@pytest.mark.parametrize("verdict", ["wrong-value", "wrong-shape", "wrong-type", "crash"])
def test_a_fail_of_ours_fails_the_run_and_one_of_theirs_does_not(verdict: str) -> None:
    good, bad = Judged("a"), Judged("b")
    good.add(blame(("within", 0.1)), "")
    bad.add(blame(("within", 0.1), (verdict, 3.0)), "")
    assert ModelRun("m", "", judged=[good, bad]).ours_failed == []
    assert ModelRun("m", "", judged=[bad, good]).ours_failed == [f"main graph, node 1 (Toy): {verdict}: so"]


def test_a_broken_judge_is_our_fault() -> None:
    broken = Judged("a")
    broken.add(blame(("harness", None)), "")
    assert ModelRun("m", "", judged=[Judged("r"), broken]).our_fault


def test_a_busy_machine_is_no_fail() -> None:
    run = ModelRun("m", "", judged=[Judged("a")], reference_seconds=26.0, allowed_seconds=25)
    assert run.ours_failed == []
    assert "reference 26.00 on one core, 25 at most at rest" in "\n".join(report.text(run))


def test_distance_is_the_largest_difference() -> None:
    left = {"y": np.array([1, 2, 3], np.float32)}
    (row,) = distances(left, {"y": np.array([1, 2.5, 3], np.float32)})
    assert (row.most, row.scale, row.where, row.elements) == (0.5, 3.0, 1, 3)
    assert distances(left, left)[0].text == "equal bit for bit"
    assert distances(left, {"y": np.array([1, np.nan, 3], np.float32)})[0].most == np.inf
    with pytest.raises(ValueError, match="float64"):
        distances(left, {"y": np.array([1, 2, 3], np.float64)})


def test_the_page_says_what_was_found_and_is_linked_once(tmp_path: Path) -> None:
    bad = Judged("reference")
    bad.add(blame(("wrong-value", 3.0)), "")
    run = ModelRun("toy", "a <toy>", judged=[bad, Judged("ONNX Runtime")], error="it broke", reference_seconds=1.0)
    index, page = tmp_path / "index.html", tmp_path / "models.html"
    index.write_text("<body><header></header></body>")
    for _ in range(2):
        report.write_page([run], page)
        report.link_from(index, page)
    report.write_json([run], tmp_path / "models.json", 1)
    said = page.read_text()
    assert "a &lt;toy&gt;" in said and "Broke off: it broke" in said and "wrong-value: so" in said
    assert index.read_text().count('href="models.html"') == 1
    assert any("wrong: main graph, node 0 (Toy): wrong-value: so" in line for line in report.text(run))
