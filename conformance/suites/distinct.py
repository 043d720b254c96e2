"""The suite of all releases: every case that differs from the others in content, once.

Releases repeat most of their cases, some with a newer opset or a newer producer, some with other random data. Two cases
are one if they ask the same of a runtime: the same graph in the same opsets, the same inputs, the same expected
outputs. Who made the file and in which version of the format, its names for graph and nodes, its remarks and the order
of attributes do not count; nor does the suite's tolerance.

A case stands in the folder of the release that had it first, as RELEASE/KIND/NAME, and `case.json` says in which
releases it is, under which name, and the hash of its content. Its files are links to those of that release's own suite.
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
MESSAGE = 11  # of google.protobuf.descriptor.FieldDescriptor.type


@dataclass
class Distinct:
    """One case: where its files are, its hash, and the releases that hold it with the name that it has there."""

    folder: Path
    first: str
    hash: str
    releases: dict[str, list[str]] = field(default_factory=dict)


def messages(message: Any) -> Iterator[Any]:
    """A message and all within."""
    yield message
    for descriptor, value in message.ListFields():
        if descriptor.type != MESSAGE:
            continue
        for one in [value] if hasattr(value, "ListFields") else value:
            yield from messages(one)


def in_order(repeated: Any, key: str) -> None:
    """Sorts what has no order of its own."""
    rows = sorted(repeated, key=lambda one: getattr(one, key))
    del repeated[:]
    repeated.extend(rows)


def meaning(model: onnx.ModelProto) -> bytes:
    """What a model asks for, as bytes; equal for models that differ in nothing but who wrote them and when."""
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
    """Inputs and outputs of each, in order."""
    found = sorted(folder.glob("test_data_set_*"), key=lambda path: (len(path.name), path.name))

    def numbered(data: Path, prefix: str) -> list[Path]:
        return sorted(data.glob(f"{prefix}_*.pb"), key=lambda path: (len(path.name), path.name))

    return [(numbered(data, "input"), numbered(data, "output")) for data in found]


def content_hash(folder: Path) -> str:
    """Of what the case means: its model's meaning and its values."""
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
    """Folder of each case -> a hash of its files as they lie there, out of the manifest."""
    files: dict[Path, list[str]] = {}
    for name, digest in sorted(json.loads((suite / "manifest.json").read_text())["files"].items()):
        kind, case, *rest = name.split("/")
        if rest and rest[-1].endswith((".pb", ".onnx")):
            files.setdefault(suite / kind / case, []).append("/".join(rest) + digest)
    return {folder: hashlib.sha256("\n".join(names).encode()).hexdigest() for folder, names in files.items()}


def distinct_cases(suites: dict[str, Path]) -> list[Distinct]:
    """Release -> its suite, oldest first. In the order of their hashes."""
    known: dict[str, str] = {}  # a hash of the files -> that of the content
    cases: dict[str, Distinct] = {}
    for release, suite in suites.items():
        for folder, files in sorted(same_bytes(suite).items()):
            if files not in known:
                known[files] = content_hash(folder)
            one = cases.setdefault(known[files], Distinct(folder, release, known[files]))
            one.releases.setdefault(release, []).append(folder.relative_to(suite).as_posix())
    return sorted(cases.values(), key=lambda case: case.hash)


def link(source: Path, target: Path) -> None:
    """Stored once where the file system can."""
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
