"""A pattern with an unknown name, or an expression outside the language, fails with file and line."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from codegen.entry import SpecError
from codegen.passes.emit import FOLDER, render, versions_of
from codegen.passes.pattern import Versions, load_patterns

ROOT = Path(__file__).resolve().parents[2]
GOOD = """doc: x
pass: p
exact: true
opset: 7
match: |
  c = Conv(x, w!, b!?)
  y = BatchNormalization-7+(c, s!, o!, m!, v!)
when: |
  once(c)
  c.group == 1
replace: |
  k = Mul(w, Reshape(s, [-1, *repeat(1, rank(w) - 1)]))
  y = Conv(x, k, b, **c)
examples: []
"""


@functools.cache
def versions() -> Versions:
    return versions_of(ROOT / "spec")


def written(folder: Path, text: str) -> str:
    (folder / "one.yaml").write_text(text, encoding="utf-8")
    return render(load_patterns(folder, versions()), versions())


def test_what_is_written(tmp_path: Path) -> None:
    text = written(tmp_path, GOOD)
    assert 'constexpr std::string_view slots[] = {"x", "w", "b", "c", "s", "o", "m", "v", "y"};' in text
    assert "constexpr int versions_0_1[] = {7, 9, 14, 15};" in text
    assert "if (!(f.once(Slot{3}))) return false;" in text
    assert 'r.result({Slot{8}}, "", "Conv", {r.value(Slot{0}), k_, r.value(Slot{2})}, r.attributes(Slot{3}));' in text
    assert 'const GraphRewriter::Arg k_ = r.compute("", "Mul", ' in text


def test_weights_times_factors_are_no_nodes(tmp_path: Path) -> None:
    old = "k = Mul(w, Reshape(s, [-1, *repeat(1, rank(w) - 1)]))"
    assert old in GOOD
    text = written(tmp_path, GOOD.replace(old, "k = scaled(w, weighed(w, Cast(s, to=11), c.group), 0)"))
    assert "const GraphRewriter::Arg k_ = r.scaled(r.value(Slot{1}), r.weighed(r.value(Slot{1}), " in text


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("Mul(w, Reshape", "scaled(w, Reshape", 12, "scaled takes 3 arguments"),
        (
            "Mul(w, Reshape(s, [-1, *repeat(1, rank(w) - 1)]))",
            "scaled(x, s, 0)",
            12,
            "what scaled is computed of is constant",
        ),
        ("Conv(x, w!, b!?)", "Konv(x, w!)", 6, "there is no operator Konv"),
        ("Conv(x, w!, b!?)", "Conv(x, w!, b!?, z)", 6, "no version of Conv has such inputs and outputs"),
        ("BatchNormalization-7+", "BatchNormalization-8+", 7, "BatchNormalization has no version 8"),
        ("BatchNormalization-7+", "Mul-7+", 7, "no version of Mul has such inputs and outputs"),
        ("c = Conv", "d = Conv", 6, "no node of the pattern reads this one"),
        ("c.group == 1", "c.groups == 1", 10, "has no attribute groups"),
        ("c.group == 1", "y.training_mode == 0", 10, "BatchNormalization-9 has no attribute training_mode"),
        ("c.group == 1", "x.group == 1", 10, "x is made by no node of the pattern"),
        ("c.group == 1", "twice(c)", 10, "there is no function twice"),
        ("c.group == 1", "same_shape(c)", 10, "same_shape takes 2 arguments"),
        ("c.group == 1", "c.group == ", 10, "not an expression"),
        ("c.group == 1", "z == 1", 10, "z stands for no number"),
        ("c.group == 1", "lambda: 1", 10, "not part of the language"),
        ("Conv(x, k, b, **c)", "Conv(x, k, b, speed=9)", 13, "has no attribute speed"),
        ("Conv(x, k, b, **c)", "Conv(x)", 13, "does not take 1 inputs"),
        ("Conv(x, k, b, **c)", "Conv(x, k, b, **y)", 13, "y is not made by Conv"),
        ("Conv(x, k, b, **c)", "Gelu(x)", 13, "there is no Gelu in opset 7"),
        ("y = Conv(x, k", "z = Conv(x, k", 12, "y is not made by the replacement"),
        ("y = Conv(x, k", "x = Conv(x, k", 13, "what is assigned is a new name"),
        ("opset: 7", "opset: new", 4, "opset is a number or two"),
        ("pass: p", "pas: p", 2, "'pas' is no key of a pattern"),
        ("exact: true", "level: basics\nexact: true", 3, "'basics' is none of the levels"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path: Path, old: str, new: str, line: int, what: str) -> None:
    assert GOOD.count(old) == 1
    with pytest.raises(SpecError) as raised:
        written(tmp_path, GOOD.replace(old, new))
    assert str(raised.value).startswith(f"transform/optimize/patterns/one.yaml:{line}: "), raised.value
    assert what in str(raised.value)


def test_every_pattern_of_the_project_can_be_read() -> None:
    assert len(load_patterns(FOLDER, versions())) > 20
