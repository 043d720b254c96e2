"""Tests the page in a headless browser by clicks and keys. Skipped, with its name, if there is no browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.report.browser import Browser, executable

FOLDER = Path(__file__).parent / "page"
STANDINGS = {"exact": "pass", "wrong-value": "fail", "crash": "fail", "unsupported": "unsupported", "open": "open"}

pytestmark = pytest.mark.skipif(executable() is None, reason="no Chromium is installed")


def result(name: str, op: str, verdict: str, compat: str, actual: str) -> dict:
    values = [["y [0]", "2 (0x40000000)", actual]] if actual else []
    row = {"name": name, "kind": "node", "compat": compat, "verdict": verdict, "utilisation": None}
    explained = ["bad-frob"] if verdict == "wrong-value" else []
    return row | {"detail": "because", "op": op, "since": 7 if op else 0, "values": values, "explained": explained}


def page(counted: bool = True) -> str:
    """Builds the page as report/page.cc does, with invented results."""
    good, bad = "2 (0x40000000)", "3 (0x40400000)"
    left = [
        result("test_one", "Frob", "exact", "pass", good),
        result("test_two", "Frob", "exact", "pass", good),
        result("test_three", "Grind", "exact", "pass", good),
        result("test_graph", "", "open", "pass", good),
    ]
    right = [
        result("test_one", "Frob", "exact", "pass", good),
        result("test_two", "Frob", "wrong-value", "wrong-value", bad),
        result("test_three", "Grind", "unsupported", "unsupported", ""),
        result("test_graph", "", "open", "pass", good),
    ]
    runs = []
    for target, cases in (("left", left), ("right", right)):
        summary: dict = {"cases": 4, "rate": 0.5, "compat": {"pass": sum(one["compat"] == "pass" for one in cases)}}
        for one in cases:
            kind = STANDINGS[one["verdict"]]
            summary[kind] = summary.get(kind, 0) + 1
        runs.append({"target": target, "version": "1.0", "suite": "mine", "summary": summary, "cases": cases})
    notes = {"bad-frob": "the suite expects too much"}
    missed = [{"clause": "spec/Frob.yaml:7 never true:", "text": "x < x", "reason": "nothing is below itself"}]
    files = [
        {"path": "spec/Frob.yaml", "statements": [2, 2], "sides": [3, 4], "missed": missed},
        {"path": "spec/Grind.yaml", "statements": [6, 6], "sides": [0, 0], "missed": []},
    ]
    coverage = {"cases": 12, "statements": [8, 8], "sides": [3, 4], "files": files}
    text = (FOLDER / "page.html").read_text()
    for mark, file in (("@STYLE@", "page.css"), ("@SCRIPT@", "page.js")):
        text = text.replace(mark, (FOLDER / file).read_text())
    results = {"runs": runs, "standings": STANDINGS, "explanations": notes}
    return text.replace("@RESULTS@", json.dumps(results | ({"coverage": coverage} if counted else {})))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser(executable()) as one:
        yield one


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Browser:
    file = tmp_path / "page.html"
    file.write_text(page())
    browser.open(file)
    return browser


def shown(browser: Browser) -> list[str]:
    return browser.ask("[...document.querySelectorAll('#cases tr.case')].map(r => r.firstChild.firstChild.textContent)")


def test_targets_stand_side_by_side(opened: Browser) -> None:
    heads = opened.ask("[...document.querySelectorAll('#matrix thead th')].map(e => e.textContent)")
    assert heads == ["operator", "versions", "cases", "left", "right"]
    rows = opened.ask(
        "[...document.querySelectorAll('#matrix tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    assert rows == [
        ["several nodes", "", "1", "1 open", "1 open"],
        ["Frob", "7", "2", "2 exact", "1 exact1 wrong-value"],
        ["Grind", "7", "1", "1 exact", "1 unsupported"],
    ]
    assert opened.ask("document.querySelector('#board tbody tr').cells[0].textContent") == "left 1.0"
    assert shown(opened)[0] == "node/test_two"  # failures come first


def test_the_filter_narrows_operators_and_cases(opened: Browser) -> None:
    opened.click("h1")
    opened.type("/three")  # the slash key focuses the filter
    assert shown(opened) == ["node/test_three"]
    assert opened.ask("document.querySelectorAll('#matrix tbody tr').length") == 1
    assert opened.ask("document.getElementById('shown').textContent") == "1 of 4 cases"


def test_a_count_is_a_way_to_its_cases(opened: Browser) -> None:
    opened.click("#matrix .chip.fail")
    assert opened.ask("document.getElementById('filter').value") == "op:Frob right:wrong-value"
    assert shown(opened) == ["node/test_two"]
    assert opened.ask("decodeURIComponent(location.hash)") == "#op:Frob right:wrong-value"
    opened.ask("ask('')")
    opened.click("#parted")
    assert sorted(shown(opened)) == ["node/test_three", "node/test_two"]


def test_a_case_opens_to_its_values(opened: Browser) -> None:
    opened.click("#cases tr.case")
    about = opened.ask("document.querySelector('#cases tr.about').innerText")
    assert opened.ask("document.querySelector('#cases tr.case .note').textContent") == "bad-frob"
    for text in (
        "the suite expects too much",
        "2 (0x40000000)",
        "3 (0x40400000)",
        "because",
        "conform --target right --suite mine --filter",
    ):
        assert text in about
    other = opened.ask("[...document.querySelectorAll('.about td.other')].map(e => e.textContent)")
    assert other == ["3 (0x40400000)"]
    opened.click("#cases tr.case")
    assert opened.ask("document.querySelector('#cases tr.about')") is None


def test_coverage_opens_to_what_is_not_reached(opened: Browser) -> None:
    assert opened.ask("document.querySelector('#coverage summary').textContent") == (
        "Coverage of the spec: 100.0 % of statements, 75.0 % of sides of conditions"
    )
    opened.click("#coverage summary")
    rows = opened.ask(
        "[...document.querySelectorAll('#coverage tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    assert rows == [
        ["spec/Frob.yaml", "2 of 2, 100.0 %", "3 of 4, 75.0 %", "1"],
        ["spec/Grind.yaml", "6 of 6, 100.0 %", "0 of 0, –", ""],
    ]
    opened.click("#coverage tr.file")
    about = opened.ask("document.querySelector('#coverage tr.about').innerText")
    assert "spec/Frob.yaml:7 never true: x < x" in about
    assert "nothing is below itself" in about


def test_what_was_not_counted_is_not_shown(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page(counted=False))
    browser.open(file)
    assert browser.ask("document.getElementById('coverage').hidden")
    assert shown(browser)


def test_keys_walk_and_open(opened: Browser) -> None:
    opened.ask("document.querySelector('#cases tr.case').focus()")
    opened.press("ArrowDown")
    opened.press("Enter")
    assert opened.ask("document.activeElement.nextSibling.className") == "about"
    assert opened.ask("document.activeElement === document.querySelectorAll('#cases tr.case')[1]")


def test_it_is_dark_where_the_reader_is(opened: Browser) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        opened.say("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        colours[scheme] = opened.ask("getComputedStyle(document.body).backgroundColor")
    assert colours == {"light": "rgb(255, 255, 255)", "dark": "rgb(15, 19, 24)"}


def test_nothing_is_fetched(opened: Browser) -> None:
    assert opened.ask("performance.getEntriesByType('resource').map(e => e.name)") == []
