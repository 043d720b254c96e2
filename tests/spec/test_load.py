"""The loader: inheritance, type groups and fact lines are as written, and a mistake is refused with file and line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.entry import MISSING, Operator, SpecError
from codegen.lines import load
from codegen.load import load_spec

Load = Callable[..., Operator]

SPEC = Path(__file__).parents[2] / "spec"

TOY = """\
op: Toy
form: elementwise
doc: Doubles every element of `x` for a test.
versions:
  - {since: 9, inherits: 7, structural: toy, types: {T: [-string]}}
  - {since: 8, inherits: 7, outputs: null, attributes: {gain: {default: 3}}, require: {C1: null}}
  - since: 7
    inherits: 3
    inputs: {x: {optional: lowest(T)}, y: {type: V, variadic: true, homogeneous: false, least: 0}}
    types: {T: [+string], V: ["map(int64,float)", seq(floats), optional(seq(int8))]}
    require:
      C2: {that: rank(x) == 0, else: x must be a scalar}
  - since: 3
    inputs:
      x: {type: T}
    outputs: {N: {type: T, shape: shape(x), element: type(to)}}
    attributes: {gain: {type: float, default: 1e-3}, to: {type: int, required: true}, names: {type: strings}}
    types: {T: [floats, int8, unsigned]}
    require: {C1: {that: rank(x) > 0, else: x must have a dimension}}
    open: {Q001: what_is_no_number}
    profiles:
      Q002:
        by: nobody
        semantics: |
          let doubled = x[i]
    cases: {one: {x: [1, 2.5], y: 4, output: [1e3, -.inf]}}
    convert: {up: same}
    semantics: |
      let doubled = x[i] + x[i]
      N[i] = doubled
"""


def test_a_version_takes_what_it_inherits_and_changes_what_it_says(load_entry: Load) -> None:
    operator = load_entry(TOY)
    assert [version.since for version in operator.versions] == [9, 8, 7, 3]
    _, eight, seven, three = operator.versions
    assert (three.domain, three.op, three.name, three.form) == ("ai.onnx", "Toy", "Toy-3", "elementwise")
    assert [p.name for p in seven.inputs] == ["x", "y"]
    x, y = seven.inputs
    assert (x.type, x.optional, x.default and x.default.text) == ("T", True, "lowest(T)")
    assert (y.type, y.variadic, y.homogeneous, y.least, y.optional) == ("V", True, False, 0, False)
    output = seven.output("N")
    assert output and output.shape and output.element
    assert (output.shape.text, output.element.text) == ("shape(x)", "type(to)")
    assert [rule.id for rule in seven.rules] == ["C1", "C2"]
    assert [rule.id for rule in eight.rules] == ["C2"] and eight.outputs == []
    gain = eight.attribute("gain")
    assert gain and gain.kind == "float" and gain.default == 3.0 and isinstance(gain.default, float)
    to = eight.attribute("to")
    assert to and to.required and to.default is MISSING
    assert three.attributes[0].default == 0.001
    assert three.cases == {"one": {"x": [1, 2.5], "y": 4, "output": [1000.0, float("-inf")]}}
    assert three.raw == {"convert": {"up": "same"}}
    assert three.open["Q001"].text == "what_is_no_number"
    assert (three.profiles["Q002"].by, three.profiles["Q002"].text.text.strip()) == ("nobody", "let doubled = x[i]")


def test_types_stand_in_the_order_of_their_codes(load_entry: Load) -> None:
    nine, _, seven, three = load_entry(TOY).versions
    unsigned_and_floats = ["float", "uint8", "int8", "uint16", "float16", "double", "uint32", "uint64"]
    assert three.types == {"T": unsigned_and_floats}
    assert seven.types["T"] == ["float", "uint8", "int8", "uint16", "string", "float16", "double", "uint32", "uint64"]
    assert seven.types["V"] == ["seq(float)", "seq(float16)", "seq(double)", "optional(seq(int8))", "map(int64,float)"]
    assert nine.types["T"] == unsigned_and_floats


def test_semantics_are_known_by_kind_and_by_the_version_that_wrote_them(load_entry: Load) -> None:
    nine, eight, seven, three = load_entry(TOY).versions
    assert (three.kind, three.meaning_of) == ("semantics", 3)
    assert (eight.kind, eight.meaning_of) == ("semantics", 3)
    assert seven.semantics == three.semantics
    assert (nine.kind, nine.meaning_of, nine.structural, nine.semantics) == ("structural", 9, "toy", None)


def test_every_text_knows_its_line(load_entry: Load) -> None:
    lines = TOY.splitlines()
    for version in load_entry(TOY).versions:
        assert f"since: {version.since}" in lines[version.line - 1]
        texts = [rule.that for rule in version.rules] + list(version.open.values())
        texts += [p.shape for p in version.outputs if p.shape] + [p.default for p in version.inputs if p.default]
        assert texts
        for text in texts:
            assert text.path == "spec/ops/ai.onnx/Toy.yaml" and text.text in lines[text.line - 1]
        for fact in (*version.inputs, *version.attributes, *version.rules):
            assert f"{fact.id if hasattr(fact, 'id') else fact.name}: " in lines[fact.line - 1]
        if version.semantics:
            for offset, line in enumerate(version.semantics.text.splitlines()):
                assert lines[version.semantics.line - 1 + offset].strip() == line


def test_pieces_of_a_function_keep_their_lines(load_entry: Load) -> None:
    text = """\
op: Toy
doc: Doubles every element of `x` for a test.
versions:
  - since: 1
    function:
      - when: given(x)
        text: |
          y = Neg(x)
      - text: y = Identity(x)
"""
    (version,) = load_entry(text).versions
    assert version.kind == "function"
    first, second = version.function
    assert (first["when"].text, first["when"].line) == ("given(x)", 6)
    assert (first["text"].text, first["text"].line) == ("y = Neg(x)\n", 8)
    assert (second["when"], second["text"].line) == (None, 9)


HEAD = "op: Toy\ndoc: Doubles every element of `x` for a test.\nversions:\n"

MISTAKES = {
    "no yaml": ("op: [", 2, "not YAML"),
    "empty": ("", 1, "the file is empty"),
    "another name": ("op: Other\ndoc: x\nversions: [{since: 1}]\n", 1, "the file of Other is Other.yaml"),
    "unknown key": (HEAD + "  - since: 1\n    input: {x: {type: float}}\n", 4, "'input' was unexpected"),
    "unknown key of a parameter": (
        HEAD + "  - since: 1\n    inputs:\n      x: {kind: float}\n",
        6,
        "'kind' was unexpected",
    ),
    "a key twice": (HEAD + "  - since: 1\n    since: 2\n", 5, "the key 'since' stands twice"),
    "oldest first": (HEAD + "  - since: 1\n  - since: 2\n", 5, "newest first"),
    "no such parent": (HEAD + "  - {since: 2, inherits: 1}\n", 4, "there is no version 1 to inherit"),
    "a circle": (
        HEAD + "  - {since: 2, inherits: 1}\n  - {since: 1, inherits: 2}\n",
        5,
        "inherit each other: 2 -> 1 -> 2",
    ),
    "no type": (HEAD + "  - since: 1\n    inputs:\n      x: {optional: true}\n", 6, "x has no type"),
    "no such type": (HEAD + "  - since: 1\n    inputs: {x: {type: T}}\n", 5, "'T' is neither a type nor"),
    "no such group": (
        HEAD + "  - since: 1\n    types:\n      T: [float,\n          number]\n",
        7,
        "'number' is neither a type",
    ),
    "added twice": (
        HEAD + "  - {since: 2, inherits: 1, types: {T: [+int8]}}\n  - {since: 1, types: {T: [ints]}}\n",
        4,
        "is there already",
    ),
    "taken twice": (
        HEAD + "  - {since: 2, inherits: 1, types: {T: [-int8]}}\n  - {since: 1, types: {T: [bool]}}\n",
        4,
        "is not there",
    ),
    "half an edit": (
        HEAD + "  - {since: 2, inherits: 1, types: {T: [+int8, bool]}}\n  - {since: 1, types: {T: [bool]}}\n",
        4,
        "+ and -",
    ),
    "an edit of nothing": (HEAD + "  - {since: 1, types: {T: [+int8]}}\n", 4, "+ and -"),
    "wrong default": (
        HEAD + "  - since: 1\n    attributes:\n      a: {type: int, default: 1.5}\n",
        6,
        "1.5 is not of type int",
    ),
    "a default for a graph": (
        HEAD + "  - since: 1\n    attributes: {a: {type: graph, default: x}}\n",
        5,
        "is not of type graph",
    ),
    "required default": (
        HEAD + "  - since: 1\n    attributes: {a: {type: int, default: 1, required: true}}\n",
        5,
        "not both",
    ),
    "unknown kind": (HEAD + "  - since: 1\n    attributes:\n      a: {type: real}\n", 6, "'real' is not one of"),
    "a rule without words": (HEAD + "  - since: 1\n    require:\n      C1: {that: x}\n", 6, "C1 says no `else`"),
    "two kinds": (HEAD + "  - since: 1\n    structural: toy\n    semantics: y = x\n", 6, "one kind of semantics"),
    "folded notation": (HEAD + "  - since: 1\n    semantics: >\n      a = b\n\n      c = d\n", 6, "literal block"),
    "least of one": (HEAD + "  - since: 1\n    inputs: {x: {type: float, least: 0}}\n", 5, "belong to a variadic"),
    "optional and variadic": (
        HEAD + "  - since: 1\n    inputs: {x: {type: float, optional: true, variadic: true}}\n",
        5,
        "not both",
    ),
    "a tag": (HEAD + "  - since: !!python/name:os.system x\n", 4, ""),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_refused_with_its_line(mistake: str, load_entry: Load) -> None:
    text, line, says = MISTAKES[mistake]
    with pytest.raises(SpecError) as refused:
        load_entry(text)
    assert refused.value.line == line
    assert str(refused.value).startswith(f"spec/ops/ai.onnx/Toy.yaml:{line}: ") and says in refused.value.message


def test_no_file_is_parsed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsing takes nearly all of the loading time."""
    parsed: Counter[str] = Counter()

    def counted(file: Path, path: str) -> object:
        parsed[path] += 1
        return load(file, path)

    monkeypatch.setattr("codegen.load.load", counted)
    assert len(load_spec(SPEC)) == 227
    assert len(parsed) >= 227 and parsed.most_common(1)[0][1] == 1
