"""Lines of the spec suite that other runtimes answer differently: a row explains each, or it counts as unexplained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codegen.load import load_spec
from codegen.questions import load_notes
from conformance.suites.spec_lines import suite_lines
from tools.peers.__main__ import complaints, runs_in
from tools.peers.explained import FILE, ROOT, Row, WrongRowError, classify, idle, load_rows, read_row
from tools.peers.page import HEAD, section, with_section

POW = {"finding": "F004", "lines": r"Pow-15\(int64", "verdict": "wrong-value", "message": "element"}
KNOWN = {"F004", "Q027"}


def case(name: str, verdict: str, detail: str = "", since: int = 15) -> dict[str, Any]:
    op = name.partition("-")[0]
    return {"name": name, "verdict": verdict, "detail": detail, "op": op, "since": since}


def run(*cases: dict[str, Any]) -> dict[str, Any]:
    return {"target": "onnxruntime:relabel=opset", "suite": "spec", "version": "1.31.1", "cases": list(cases)}


def row(**changes: str) -> Row:
    said = {key: value for key, value in {**POW, **changes}.items() if value}
    return read_row("onnxruntime", said, KNOWN)


WRONG = case("Pow-15(int64[1]{3}, int64[1]{2})", "wrong-value", "element [0] is 8 for 9")


def test_a_row_explains_what_it_says() -> None:
    classified = classify(run(WRONG), [row()])
    assert (classified.rows.total(), classified.of("finding"), classified.unexplained) == (1, 1, [])


@pytest.mark.parametrize(
    "changes",
    [{"lines": r"Pow-13\("}, {"lines": r"int64"}, {"verdict": "crash"}, {"message": "shape"}],
    ids=["another version", "not from the beginning", "another verdict", "another message"],
)
def test_a_row_explains_nothing_else(changes: dict[str, str]) -> None:
    classified = classify(run(WRONG), [row(**changes)])
    assert classified.unexplained == [WRONG]
    assert idle(classified, [row(**changes)]) == [row(**changes)]


def test_a_row_of_another_peer_explains_nothing() -> None:
    other = read_row("onnx-reference", POW, KNOWN)
    classified = classify(run(WRONG), [other])
    assert classified.unexplained == [WRONG]
    assert idle(classified, [other]) == []  # that runtime did not run


def test_what_a_row_above_explains_leaves_the_next_idle() -> None:
    first, second = row(message=""), row()
    assert idle(classify(run(WRONG), [first, second]), [first, second]) == [second]


def test_an_invalid_line_may_end_in_any_exception() -> None:
    rows = [row(finding="", limit="fails", lines=".* !", verdict="crash", message="")]
    name = "MaxUnpool-22(float[1]{1}, int64[1]{0}) kernel_shape=[2] !MaxUnpool-22/C1"
    classified = classify(run(case(name, "crash"), case(name, "out-of-memory")), rows)
    assert (classified.rows.total(), classified.unexplained) == (2, [])
    assert classify(run(case("MaxUnpool-22(float[1]{1})", "out-of-memory")), rows).unexplained


def test_each_line_counts_once() -> None:
    classified = classify(
        run(
            case("Abs-13(float[1]{1})", "within(0.5)"),
            case("Abs-13(float[1]{2})", "profile(Q027)"),
            case("Abs-13(float[1]{3})", "open"),
            case("Abs-13(float[1]{4})", "unsupported"),
            case("Abs-13(float[1]{5})", "mistrusted"),
            WRONG,
        ),
        [row()],
    )
    assert (
        classified.right,
        classified.open,
        classified.absent.total(),
        classified.rows.total(),
        len(classified.unexplained),
    ) == (2, 1, 1, 1, 1)
    assert classified.cases == 6


def test_a_version_that_is_newer_than_all_the_peer_knows_is_not_implemented() -> None:
    stamped = "IR version 14 stamped down to 13, opset 28 stamped down to 26; element [0] is 1 for 2"
    classified = classify(
        run(case("Range-27(int64[]{1})", "exact", stamped, 27), case("Mod-26(int64[1]{1})", "exact", stamped, 26)), []
    )
    assert dict(classified.absent) == {"Range-27": 1}
    assert classified.right == 1


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"finding": "F999"}, "no finding about onnxruntime"),
        ({"finding": "Q027"}, "no finding"),
        ({"finding": "", "question": "Q999"}, "no question"),
        ({"finding": "", "limit": ""}, "has one of finding, question, erratum, limit"),
        ({"limit": "also"}, "has one of"),
        ({"verdict": "exact"}, "verdicts are"),
        ({"lines": "("}, "unterminated|missing"),
        ({"types": "int64"}, "has one of"),
    ],
)
def test_a_row_that_cannot_mean_anything_is_refused(changes: dict[str, str], says: str) -> None:
    with pytest.raises(WrongRowError, match=says):
        row(**changes)


def test_rows_name_what_there_is_and_lines_of_the_suite() -> None:
    """Each row names existing lines. The run of both runtimes checks that they differ there (make full)."""
    rows, lines = load_rows(), suite_lines()
    assert rows
    assert [str(one) for one in rows if not any(map(one.lines.match, lines))] == []
    assert len(set(map(str, rows))) == len(rows), f"{FILE} says something twice"


def test_questions_and_errata_speak_of_the_operators_of_their_lines() -> None:
    notes = {note.id: set(note.operators) for note in load_notes(ROOT / "spec", load_spec(ROOT / "spec"))}
    rows = [one for one in load_rows() if one.name in notes]
    assert rows
    for one in rows:
        heads = {line.partition("(")[0].rpartition(".")[2] for line in suite_lines() if one.lines.match(line)}
        assert {head for head in heads if not {head, head.rpartition("-")[0]} & notes[one.name]} == set(), str(one)


def test_complaints_are_of_idle_rows_and_of_lines_without_one() -> None:
    classified = classify(run(WRONG), [])
    idle_rows = [one for one in load_rows() if one.peer == "onnxruntime"]
    assert complaints([classified])[len(idle_rows) :] == ["ONNX Runtime: 1 wrong-value of Pow unexplained"]


def test_a_page_keeps_what_stands_before_its_last_part() -> None:
    classified = classify(run(WRONG, case("Abs-13(float[1]{4})", "unsupported")), [row()])
    fresh = section(ROOT, [classified], 2)
    assert "| ONNX Runtime 1.31.1 | 2 | 0 | 0 | 1 | 1 | 0 | 0 | 0 | 0 |" in fresh
    assert "| finding | [F004](findings/004-pow-of-integers/README.md) " in fresh
    assert "\nAbs (13): 1." in fresh
    page = with_section(f"# Peers\n\nFirst.\n\n{HEAD}\nold\n", fresh)
    assert page == f"# Peers\n\nFirst.\n\n{fresh}"
    assert with_section(page, fresh) == page


def test_results_are_read_from_a_report_and_from_a_log(tmp_path: Path) -> None:
    report, log = tmp_path / "report.json", tmp_path / "log"
    report.write_text(json.dumps({"schema": "touchstone.conform/1", "runs": [run(WRONG)]}), encoding="utf-8")
    rows = [{"target": "onnxruntime:relabel=opset", "suite": "spec", **each} for each in (WRONG, WRONG)]
    log.write_text("".join(f"{json.dumps(each)}\n" for each in rows), encoding="utf-8")
    assert [len(each["cases"]) for each in runs_in(report)] == [1]
    assert [len(each["cases"]) for each in runs_in(log)] == [2]
