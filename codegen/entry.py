"""Data classes of a spec entry after loading and inheritance: plain data, with the line of every fact for errors and
#line."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Missing(Enum):  # an enum, so that copies and pickles stay identical
    MISSING = "missing"


MISSING = Missing.MISSING  # default of an attribute without one


class SpecError(Exception):
    """Mistake in an entry. Its text is 'file:line: message'."""

    def __init__(self, path: str, line: int, message: str):
        super().__init__(f"{path}:{line}: {message}")
        self.path, self.line, self.message = path, line, message


@dataclass
class Text:
    """Piece of notation with its location: `line` is the line of its first character in `path`."""

    text: str
    path: str
    line: int


@dataclass
class Parameter:
    name: str
    type: str  # a constraint's name, or a value type as in entries: int64, seq(T), map(int64,float)
    optional: bool = False
    default: Text | None = None  # optional: lowest(T)
    variadic: bool = False
    homogeneous: bool = True
    least: int = 1
    shape: Text | None = None  # outputs: the shape in notation
    element: Text | None = None  # outputs: the element type in notation, if no input binds it (is: type(to))
    line: int = 0


@dataclass
class Attribute:
    name: str
    kind: str  # int float string tensor graph sparse_tensor type and their plurals
    required: bool = False
    default: Any = MISSING
    defined: list[int] = field(default_factory=list)  # the only values with a defined meaning; []: any
    line: int = 0


@dataclass
class Rule:
    id: str  # C1
    that: Text
    message: str
    line: int
    meaningless: str = ""  # question whose ruling refuses types that the signature allows


@dataclass
class Also:
    """Alternative formula (equal numbers in exact arithmetic) or another ruling of a question.

    Its statements replace those that define the same names.
    """

    name: str  # for a ruling, its question: Q027
    by: str  # runtime or library that computes so
    text: Text


@dataclass
class Version:
    domain: str  # ai.onnx, ai.onnx.ml ...
    op: str
    since: int
    doc: str
    deprecated: bool = False
    all_outputs: bool = False  # a node names either the required outputs alone or every output
    fast: str = ""  # a OperatorKind of optimized/registry, if a handwritten kernel computes it
    lived: bool = False  # deprecated later, in place: models of its opsets may still use it
    form: str = ""
    kind: str = "none"  # semantics function structural random none
    inputs: list[Parameter] = field(default_factory=list)
    outputs: list[Parameter] = field(default_factory=list)
    attributes: list[Attribute] = field(default_factory=list)
    types: dict[str, list[str]] = field(default_factory=dict)  # expanded, in the order of the codes
    rules: list[Rule] = field(default_factory=list)
    semantics: Text | None = None
    parts: dict[str, Text] = field(default_factory=dict)  # spec/parts.yaml: text that `use NAME` includes
    function: Any = None
    structural: str = ""  # the template's name: topk, or sequence.at, a part of a template that several operators share
    random: str = ""  # the same for operators that draw random numbers
    open: dict[str, Text] = field(default_factory=dict)  # question -> function of reference/openings.h
    also: dict[str, Also] = field(default_factory=dict)
    profiles: dict[str, Also] = field(default_factory=dict)  # question -> statements of another ruling
    variant: Also | None = None  # the alternative that replaces the first formula
    cases: dict[str, Any] = field(default_factory=dict)
    raw: dict[str, Any] = field(default_factory=dict)  # any other key of the entry, unchanged
    meaning_of: int = 0  # since-version whose semantics text this version inherits (its own if it has one)
    left_out: bool = False  # of the tables: a bundle does not have it (TOUCHSTONE_OPERATORS of CMake)
    path: str = ""  # spec/ops/ai.onnx/Clip.yaml
    line: int = 0

    @property
    def name(self) -> str:
        return f"{self.op}-{self.since}"

    @property
    def template(self) -> str:
        """Name of the template in reference/structural/ of a handwritten definition."""
        return (self.structural or self.random).partition(".")[0]

    @property
    def entry_point(self) -> str:
        """Suffix of the names of its C++ functions: run_sequence_at."""
        return (self.structural or self.random).replace(".", "_")

    def written(self) -> list[str]:
        """Returns the lines of the semantics with all parts included."""
        lines: list[str] = []
        for line in self.semantics.text.rstrip().split("\n") if self.semantics else []:
            words = line.split()
            if len(words) == 2 and words[0] == "use" and words[1] in self.parts:
                indent = line[: len(line) - len(line.lstrip())]
                lines += [indent + inner for inner in self.parts[words[1]].text.rstrip().split("\n")]
            else:
                lines.append(line)
        return lines

    def input(self, name: str) -> Parameter | None:
        return next((p for p in self.inputs if p.name == name), None)

    def output(self, name: str) -> Parameter | None:
        return next((p for p in self.outputs if p.name == name), None)

    def attribute(self, name: str) -> Attribute | None:
        return next((a for a in self.attributes if a.name == name), None)


@dataclass
class Derivative:
    """Derivatives of the inputs from those of the outputs, since version `since`: nodes in the standard's text form."""

    since: int
    text: Text


@dataclass
class Operator:
    domain: str
    op: str
    doc: str
    path: str
    versions: list[Version]  # newest first
    derivative: Derivative | None = None
