"""Loads YAML with the line of every value, so that an error or a #line can name it.

Values follow YAML 1.2's core schema: only true and false are bools (a key N, Y or on stays text), and 1e-5 is a number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from codegen.entry import SpecError, Text

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # libyaml is missing: the same values, slower
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_REAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_SPECIAL = {".inf": float("inf"), "+.inf": float("inf"), "-.inf": float("-inf"), ".nan": float("nan")}
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}


@dataclass
class Scalar:
    """Scalar as written: its text, the line of its first character, and '|' for a literal block."""

    text: str
    line: int
    style: str


class Map(dict[str, Any]):
    """Mapping with the line of each key; `scalars` keeps the written form of scalar values."""

    def __init__(self, line: int = 0):
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}
        self.scalars: dict[str, Scalar] = {}

    def put(self, key: str, value: Any, line: int, scalar: Scalar | None) -> None:
        self[key] = value
        self.lines[key] = line
        self.scalars.pop(key, None)
        if scalar:
            self.scalars[key] = scalar

    def take(self, key: str, other: Map) -> None:
        self.put(key, other[key], other.lines[key], other.scalars.get(key))

    def drop(self, key: str) -> None:
        self.pop(key, None)
        self.lines.pop(key, None)
        self.scalars.pop(key, None)

    def copy(self) -> Map:
        result = Map(self.line)
        for key in self:
            result.take(key, self)
        return result

    def text(self, key: str, path: str) -> Text:
        scalar = self.scalars[key]
        return Text(scalar.text, path, scalar.line)


class Seq(list[Any]):
    """Sequence with the line of each item."""

    def __init__(self, line: int = 0):
        super().__init__()
        self.line = line
        self.lines: list[int] = []
        self.scalars: list[Scalar | None] = []


def load(file: Path, path: str) -> Any:
    """Reads one YAML file; `path` is the name in error messages."""
    return parse(file.read_text(encoding="utf-8"), path)


def parse(text: str, path: str) -> Any:
    """Reads a text that holds one YAML document."""
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        raise SpecError(path, mark.line + 1 if mark else 1, f"not YAML: {problem}") from error
    finally:
        loader.dispose()
    if node is None:
        raise SpecError(path, 1, "the file is empty")
    return _value(node, path)


def plain(value: Any) -> Any:
    """Returns the same value in ordinary dicts and lists."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def _value(node: yaml.Node, path: str) -> Any:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, path)
    if isinstance(node, yaml.SequenceNode):
        result = Seq(line)
        for item in node.value:
            result.append(_value(item, path))
            result.lines.append(item.start_mark.line + 1)
            result.scalars.append(_written(item))
        return result
    mapping = Map(line)
    for key, item in node.value:
        at = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise SpecError(path, at, "a key must be a word")
        if key.value in mapping:
            raise SpecError(path, at, f"the key '{key.value}' stands twice")
        mapping.put(key.value, _value(item, path), at, _written(item))
    return mapping


def _written(node: yaml.Node) -> Scalar | None:
    if not isinstance(node, yaml.ScalarNode):
        return None
    style = node.style or ""
    block = style in ("|", ">")  # the text of a block begins on the line below its mark
    return Scalar(node.value, node.start_mark.line + (2 if block else 1), style)


def _scalar(node: yaml.ScalarNode, path: str) -> Any:
    text = node.value
    if node.style not in (None, ""):
        return text
    if node.tag and not node.tag.startswith("tag:yaml.org,2002:"):
        raise SpecError(path, node.start_mark.line + 1, f"tags are not part of an entry: {node.tag}")
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text):
        return int(text)
    if _REAL.match(text):
        return float(text)
    return _SPECIAL.get(text, text)
