"""The distinct cases of all released suites, with the notes that name each; witnesses of a note run on them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import yaml

from codegen.load import load_spec
from codegen.questions import Note, Probe, load_notes, suites_named
from tools.probes.model import Question, to_value

ROOT = Path(__file__).parents[2]
SPEC = ROOT / "spec"
OPERATORS = load_spec(SPEC)
NOTES = load_notes(SPEC, OPERATORS)
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "touchstone" / "suites"
SUITES = _CACHE / "all"


@dataclass(frozen=True)
class Case:
    """A distinct case. `folder` is release/kind/name below the suite of all releases; `held` lists (release, name) of
    each copy.
    """

    folder: Path
    held: frozenset[tuple[str, str]]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def release(self) -> str:
        return self.folder.parts[-3]

    @property
    def model(self) -> onnx.ModelProto:
        return onnx.load(self.folder / "model.onnx")

    def files(self, side: str) -> list[bytes]:
        found = self.folder.glob(f"test_data_set_0/{side}_*.pb")
        return [file.read_bytes() for file in sorted(found, key=lambda file: int(file.stem.rpartition("_")[2]))]

    def arrays(self, side: str) -> list[Any]:
        infos = getattr(self.model.graph, side)
        return [to_value(data, info) for data, info in zip(self.files(side), infos, strict=False)]

    def misses(self, given: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """Marks the elements that fail by the suite's rule, with the case's own tolerances."""
        rule = json.loads((self.folder / "case.json").read_text(encoding="utf-8"))
        if given.dtype.kind != "f":
            return given != expected
        with np.errstate(invalid="ignore"):
            near = np.abs(given - expected) <= rule["atol"] + rule["rtol"] * np.abs(expected)
        return ~(near | (given == expected) | (np.isnan(given) & np.isnan(expected)))

    def question(self) -> Question:
        """The case as a question of tools/probes, which runs it on runtimes."""
        model = self.model
        feeds = dict(zip((info.name for info in model.graph.input), self.files("input"), strict=False))
        op = model.graph.node[0].op_type
        probe = Probe(self.release, self.name, op, model.opset_import[0].version, {}, {}, "", 0)
        return Question(probe, model, feeds, {})


@cache
def releases() -> list[str]:
    """The releases with suites, oldest first; the last is the pinned one."""
    rows = yaml.safe_load((SPEC / "releases.yaml").read_text(encoding="utf-8"))["releases"]
    return [row["version"] for row in rows if "wheel" in row]


@cache
def distinct() -> list[Case]:
    """All distinct cases; empty if the cache has only some of the suites."""
    return [Case(file.parent, _held(file)) for file in sorted(SUITES.glob("*/*/*/case.json"))]


def _held(file: Path) -> frozenset[tuple[str, str]]:
    releases = json.loads(file.read_text(encoding="utf-8"))["releases"]
    return frozenset((each, name.rpartition("/")[2]) for each, names in releases.items() for name in names)


def named_by(note: Note) -> list[Case]:
    """The cases that a note names, under any of their names in a release, as `conform` matches them."""
    patterns = [
        (suite.partition("@")[2], pattern)
        for key, named in note.cases.items()
        for suite in suites_named(key, releases(), releases()[-1])
        for pattern in named
    ]
    return [
        case
        for case in distinct()
        if any(held == release and fnmatchcase(name, given) for held, name in case.held for release, given in patterns)
    ]
