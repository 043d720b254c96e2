"""Every pair of versions that differs has a step in spec/conversions; unknown names fail with file and line."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from codegen.conversions.emit import render
from codegen.conversions.rules import differs, idle_attributes, load_steps
from codegen.entry import SpecError, Version
from codegen.passes.emit import versions_of
from codegen.passes.pattern import Versions

ROOT = Path(__file__).resolve().parents[2]
GOOD = """- ops: [Squeeze]
  from: 11
  to: 13
  up:
    - when: has(node.axes)
      do: squeezed = Self(data, ints(node.axes))
    - do: squeezed = Self(data)
  down: squeezed = Self(data, axes=ints(axes))
  lacking: the axes must be constant
"""


@functools.cache
def versions() -> Versions:
    return versions_of(ROOT / "spec")


@functools.cache
def only_squeeze() -> Versions:
    """Returns two neighboring versions, so that no other pair needs a file, and the operators that replacements use."""
    named = {version.since: version for version in versions()["", "Squeeze"]}
    others = {key: known[:1] for key, known in versions().items() if key[1] in ("Reshape", "Identity")}
    return {("", "Squeeze"): [named[13], named[11]], **others}


def written(folder: Path, text: str) -> str:
    (folder / "one.yaml").write_text(text, encoding="utf-8")
    return render(load_steps(folder, only_squeeze(), "scratch"), only_squeeze(), [])


def test_what_is_written(tmp_path: Path) -> None:
    text = written(tmp_path, GOOD)
    assert 'if (!(f.has(Slot{0}, "axes"))) return false;' in text
    axes = 'GraphRewriter::ints(f.integers(Slot{0}, "axes"))'
    assert f'r.result({{r.value(Slot{{2}})}}, "", "Squeeze", {{r.value(Slot{{1}}), {axes}}}, {{}});' in text
    assert '{"", "Squeeze", 11, 13, s_0::pieces,' in text
    assert '{"", "Squeeze", 13, 11, s_1::pieces,' in text
    assert '"scratch/one.yaml:8"' in text


def test_an_attribute_is_left_out(tmp_path: Path) -> None:
    text = written(tmp_path, GOOD.replace("axes=ints(axes)", "**node, axes=None"))
    assert '{r.value(Slot{1})}, r.carried("", "Squeeze", {"axes"}));' in text


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("ops: [Squeeze]", "ops: [Sqeeze]", 1, "there is no operator Sqeeze"),
        ("from: 11", "from: 1", 1, "Squeeze has no neighbouring versions 1 and 13"),
        ("  lacking: the axes must be constant\n", "  down_: carry\n", 9, "a step has no key down_"),
        ("down: squeezed = Self(data, axes=ints(axes))", "down: refuse", 8, ""),
        ("  down: squeezed = Self(data, axes=ints(axes))\n", "", 1, "a step says what is done on the way down"),
        ("has(node.axes)", "has(node.axis)", 5, "has an attribute axis"),
        ("Self(data, axes=", "Self(data, axis=", 8, "Squeeze-11 has no attribute axis"),
        ("axes=ints(axes)", "axes=None", 8, "only an attribute of `node` can be left out"),
        ("Self(data, ints(node.axes))", "Self(data, ints(node.axes), data)", 6, "does not take 3 inputs"),
        ("Self(data, axes=ints(axes))", "Self(date, axes=ints(axes))", 8, "date is no value of the pattern"),
        (
            "squeezed = Self(data, axes=ints(axes))",
            "made = Self(data, axes=ints(axes))",
            8,
            "is not made by the replacement",
        ),
        ("Self(data, axes=ints(axes))", "Gelu(data)", 8, "is no argument of an operator"),
    ],
)
def test_what_is_wrong_has_a_file_and_a_line(tmp_path: Path, old: str, new: str, line: int, what: str) -> None:
    assert old in GOOD
    text = GOOD.replace(old, new)
    if not what:  # a refusal must name the missing feature
        text, what = text.replace("  lacking: the axes must be constant\n", ""), "`lacking` says what is missed"
    with pytest.raises(SpecError) as caught:
        written(tmp_path, text)
    assert caught.value.path == "scratch/one.yaml"
    assert what in str(caught.value)
    assert caught.value.line == line, caught.value


def test_a_pair_that_differs_must_be_told(tmp_path: Path) -> None:
    (tmp_path / "none.yaml").write_text("[]\n", encoding="utf-8")
    with pytest.raises(SpecError, match="how does Squeeze-11 become Squeeze-13"):
        load_steps(tmp_path, only_squeeze(), "scratch")


def test_a_pair_stands_once(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="stands here and in scratch/one.yaml"):
        written(tmp_path, GOOD + GOOD)


def pair(op: str, older: int, newer: int) -> tuple[Version, Version]:
    known = {version.since: version for version in versions()["", op]}
    return known[older], known[newer]


def test_what_is_plain() -> None:
    assert not differs(*pair("Squeeze", 13, 21))  # types alone
    assert not differs(*pair("Relu", 1, 6))
    assert idle_attributes(*pair("Relu", 1, 6)) == ["consumed_inputs"]
    assert idle_attributes(*pair("Clip", 1, 6)) == ["consumed_inputs"]  # which differ in meaning
    assert differs(*pair("Squeeze", 11, 13))
    assert differs(*pair("Selu", 1, 6))  # other defaults
    assert differs(*pair("Erf", 9, 13))  # fewer types
    assert idle_attributes(*pair("Dropout", 6, 7)) == []  # is_test is read


def test_the_files_of_the_spec_tell_every_pair() -> None:
    steps = load_steps(ROOT / "spec" / "conversions", versions())
    assert len({(step.op, step.source.since) for step in steps}) > 150
    assert any(step.refused for step in steps)
