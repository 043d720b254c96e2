"""Builds the suite of all releases: every case with distinct content, once.

Releases repeat most of their cases, some with a newer opset or producer, some with other random data. Two cases are
equal if they test the same: the same graph in the same opsets, the same inputs, the same expected outputs. Producer,
format version, names of graph and nodes, remarks, the order of attributes and the suite's tolerance are ignored.

A case is stored under the release that had it first, as RELEASE/KIND/NAME. Its `case.json` lists the releases that
contain it, its name there, and the hash of its content. Its files are links to those of that release's own suite.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx

from conformance.suites.folders import FACTS, value_of

ALL = "all"
REMARKS = ("doc_string", "metadata_props")
PRODUCTION = ("producer_name", "producer_version", "model_version", "domain", "ir_version")
MESSAGE = 11  # google.protobuf.descriptor.FieldDescriptor.type of a message


@dataclass
class Distinct:
    """One case: its folder, its hash, and the releases that contain it with its names there."""

    folder: Path
    first: str
    hash: str
    releases: dict[str, list[str]] = field(default_factory=dict)


def messages(message: Any) -> Iterator[Any]:
    """Yields a message and all nested ones."""
    yield message
    for descriptor, value in message.ListFields():
        if descriptor.type != MESSAGE:
            continue
        for one in [value] if hasattr(value, "ListFields") else value:
            yield from messages(one)


def in_order(repeated: Any, key: str) -> None:
    """Sorts a repeated field whose order has no meaning."""
    rows = sorted(repeated, key=lambda one: getattr(one, key))
    del repeated[:]
    repeated.extend(rows)


def meaning(model: onnx.ModelProto) -> bytes:
    """Returns a model in canonical form as bytes: equal for models that differ only in producer, names and remarks."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    for message in list(messages(model)):
        for name in REMARKS:
            if name in message.DESCRIPTOR.fields_by_name:
                message.ClearField(name)
        if isinstance(message, (onnx.NodeProto, onnx.GraphProto)):
            message.ClearField("name")
        for name, key in (("attribute", "name"), ("opset_import", "domain")):
            if name in message.DESCRIPTOR.fields_by_name:
                in_order(getattr(message, name), key)
    for name in PRODUCTION:
        model.ClearField(name)
    return model.SerializeToString(deterministic=True)


def data_sets(folder: Path) -> list[tuple[list[Path], list[Path]]]:
    """Returns the inputs and outputs of each data set, in order."""
    found = sorted(folder.glob("test_data_set_*"), key=lambda path: (len(path.name), path.name))

    def numbered(data: Path, prefix: str) -> list[Path]:
        return sorted(data.glob(f"{prefix}_*.pb"), key=lambda path: (len(path.name), path.name))

    return [(numbered(data, "input"), numbered(data, "output")) for data in found]


def content_hash(folder: Path) -> str:
    """Returns a hash of the case's content: its model in canonical form and its values."""
    model = onnx.load(folder / "model.onnx")
    initialized = {tensor.name for tensor in model.graph.initializer}
    parts = [meaning(model)]
    for inputs, outputs in data_sets(folder):
        bare = [info for info in model.graph.input if info.name not in initialized]
        fed = bare if len(inputs) <= len(bare) else list(model.graph.input)
        for files, infos in ((inputs, fed), (outputs, list(model.graph.output))):
            parts.append(f"{len(files)} values".encode())
            parts += [value_of(path.read_bytes(), info) for path, info in zip(files, infos, strict=False)]
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "little") + part)
    return whole.hexdigest()


def same_bytes(suite: Path) -> dict[Path, str]:
    """Returns, for each case's folder, a hash of its files, taken from the manifest."""
    files: dict[Path, list[str]] = {}
    for name, digest in sorted(json.loads((suite / "manifest.json").read_text())["files"].items()):
        kind, case, *rest = name.split("/")
        if rest and rest[-1].endswith((".pb", ".onnx")):
            files.setdefault(suite / kind / case, []).append("/".join(rest) + digest)
    return {folder: hashlib.sha256("\n".join(names).encode()).hexdigest() for folder, names in files.items()}


def distinct_cases(suites: dict[str, Path]) -> list[Distinct]:
    """Returns the distinct cases, sorted by hash. `suites`: release -> its suite, oldest first."""
    known: dict[str, str] = {}  # hash of the files -> hash of the content
    cases: dict[str, Distinct] = {}
    for release, suite in suites.items():
        for folder, files in sorted(same_bytes(suite).items()):
            if files not in known:
                known[files] = content_hash(folder)
            one = cases.setdefault(known[files], Distinct(folder, release, known[files]))
            one.releases.setdefault(release, []).append(folder.relative_to(suite).as_posix())
    return sorted(cases.values(), key=lambda case: case.hash)


def link(source: Path, target: Path) -> None:
    """Creates a hard link, or a copy if the file system has no hard links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def make(root: Path, suites: dict[str, Path]) -> None:
    for case in distinct_cases(suites):
        name = case.folder.relative_to(suites[case.first])
        folder = root / case.first / name
        for path in sorted(case.folder.rglob("*")):
            if path.is_file() and path.name != FACTS:
                target = folder / path.relative_to(case.folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                link(path, target)
        facts = json.loads((case.folder / FACTS).read_text())
        facts |= {"kind": f"{case.first}/{facts['kind']}", "hash": case.hash, "releases": case.releases}
        (folder / FACTS).write_text(json.dumps(facts, sort_keys=True) + "\n")
