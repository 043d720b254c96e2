"""What an entry of spec/ says after loading and inheritance: plain data, with the line of every fact for errors and #line."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Missing(Enum):  # one value that stays itself when an entry is copied or pickled
    MISSING = "missing"


MISSING = Missing.MISSING  # the default of an attribute that has none


class SpecError(Exception):
    """A mistake in an entry. Its text is 'file:line: what is wrong'."""

    def __init__(self, path: str, line: int, message: str):
        super().__init__(f"{path}:{line}: {message}")
        self.path, self.line, self.message = path, line, message


@dataclass
class Text:
    """A piece of notation and where it stands: `line` is the line of its first character in `path`."""

    text: str
    path: str
    line: int


@dataclass
class Parameter:
    name: str
    type: str  # a constraint's name, or a value type as entries write it: int64, seq(T), map(int64,float)
    optional: bool = False
    default: Text | None = None  # optional: lowest(T)
    variadic: bool = False
    homogeneous: bool = True
    least: int = 1
    shape: Text | None = None  # outputs: the shape in notation
    element: Text | None = None  # outputs: the element type in notation, where no input binds it (is: type(to))
    line: int = 0


@dataclass
class Attribute:
    name: str
    kind: str  # int float string tensor graph sparse_tensor type and their plurals
    required: bool = False
    default: Any = MISSING
    defined: list[int] = field(default_factory=list)  # the only numbers that the text gives a meaning; []: any
    line: int = 0


@dataclass
class Rule:
    id: str  # C1
    that: Text
    message: str
    line: int
    meaningless: str = ""  # it refuses types that the signature allows, by the ruling of this question


@dataclass
class Also:
    """Another form (the same numbers otherwise) or another reading of a question: its statements take the place of those that
    define the same."""

    name: str  # of a reading that of its question, Q027
    by: str  # who computes so
    text: Text


@dataclass
class Version:
    domain: str  # ai.onnx, ai.onnx.ml ...
    op: str
    since: int
    doc: str
    deprecated: bool = False
    fast: str = ""  # which kernel by hand computes it, where one does: a Role of optimized/registry
    lived: bool = False  # deprecated later and in place: models of its opsets may still use it
    form: str = ""
    kind: str = "none"  # semantics function structural random none
    inputs: list[Parameter] = field(default_factory=list)
    outputs: list[Parameter] = field(default_factory=list)
    attributes: list[Attribute] = field(default_factory=list)
    types: dict[str, list[str]] = field(
        default_factory=dict
    )  # expanded: groups and +/- resolved, in the standard's order of codes
    rules: list[Rule] = field(default_factory=list)
    semantics: Text | None = None
    parts: dict[str, Text] = field(default_factory=dict)  # what `use NAME` puts in, of spec/parts.yaml
    function: Any = None
    structural: str = ""  # the template's name: topk, or sequence.at, the part of a template that several share
    random: str = ""  # the same of a draw
    open: dict[str, Text] = field(
        default_factory=dict
    )  # question -> the function in reference/open/ that follows an answer
    also: dict[str, Also] = field(default_factory=dict)
    profiles: dict[str, Also] = field(default_factory=dict)  # question -> what another ruling says
    variant: Also | None = None  # the form that is read in place of the first one
    cases: dict[str, Any] = field(default_factory=dict)
    raw: dict[str, Any] = field(default_factory=dict)  # any other key of the entry, as it stands
    meaning_of: int = 0  # the since-version whose semantics text this version inherits (its own when it writes it)
    path: str = ""  # spec/ops/ai.onnx/Clip.yaml
    line: int = 0

    @property
    def name(self) -> str:
        return f"{self.op}-{self.since}"

    @property
    def template(self) -> str:
        """The template in reference/structural/ that holds a meaning written by hand."""
        return (self.structural or self.random).partition(".")[0]

    @property
    def entry_point(self) -> str:
        """The end of the names of its functions: run_sequence_at."""
        return (self.structural or self.random).replace(".", "_")

    def written(self) -> list[str]:
        """The lines of the semantics, each part in its place."""
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
    """How the derivatives of the inputs come of those of the outputs, from a version on: nodes in the standard's text form."""

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
