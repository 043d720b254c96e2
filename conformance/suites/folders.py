"""Writes cases in the standard's layout on disk. Both suite makers use it, so that they write the same bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

RTOL, ATOL = 1e-3, 1e-7  # the official runner's defaults
FACTS = "case.json"


@dataclass(frozen=True)
class CaseFacts:
    """Content of `case.json`: identity, the suite's own tolerance, and the case's origin."""

    name: str
    kind: str
    source: str
    rtol: float = RTOL
    atol: float = ATOL


def write_facts(folder: Path, facts: CaseFacts) -> None:
    (folder / FACTS).write_text(json.dumps(asdict(facts), sort_keys=True) + "\n")


def value_bytes(value: Any, info: onnx.ValueInfoProto) -> bytes:
    """Returns the bytes of a value. A .pb carries no type tag, so the graph's type selects the message."""
    kind = info.type.WhichOneof("value")
    if isinstance(value, onnx.TensorProto):
        proto = value
    elif kind == "map_type":
        proto = numpy_helper.from_dict(value, info.name)
    elif kind == "sequence_type":
        proto = numpy_helper.from_list(value, info.name)
    elif kind == "optional_type":
        proto = numpy_helper.from_optional(value, info.name)
    else:
        proto = numpy_helper.from_array(np.asarray(value), info.name)
    return proto.SerializeToString(deterministic=True)


def nameless(proto: Any) -> Any:
    """Clears a value's names, its own and nested ones, which are not part of its content."""
    proto.ClearField("name")
    for descriptor, value in proto.ListFields():
        if descriptor.message_type is not None:
            for one in [value] if hasattr(value, "ListFields") else value:
                if "name" in one.DESCRIPTOR.fields_by_name:
                    nameless(one)
    return proto


def value_of(data: bytes, info: onnx.ValueInfoProto) -> bytes:
    """Returns the value in a .pb in canonical form: without its name, and with elements in raw_data."""
    kind = info.type.WhichOneof("value")
    protos = {"map_type": onnx.MapProto, "sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}
    proto = nameless(protos.get(kind, onnx.TensorProto).FromString(data))
    if isinstance(proto, onnx.TensorProto):
        proto.ClearField("doc_string")
        if not proto.HasField("raw_data") and proto.data_type != onnx.TensorProto.STRING:
            proto = numpy_helper.from_array(numpy_helper.to_array(proto))
    return proto.SerializeToString(deterministic=True)


def write_case(
    root: Path, facts: CaseFacts, model: onnx.ModelProto, data_sets: Sequence[tuple[Sequence[Any], Sequence[Any]]]
) -> None:
    folder = root / facts.kind / facts.name
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    for index, (inputs, outputs) in enumerate(data_sets):
        data = folder / f"test_data_set_{index}"
        data.mkdir()
        for prefix, values, infos in (("input", inputs, model.graph.input), ("output", outputs, model.graph.output)):
            for position, value in enumerate(values):
                (data / f"{prefix}_{position}.pb").write_bytes(value_bytes(value, infos[position]))
    write_facts(folder, facts)


def write_manifest(root: Path, version: str) -> int:
    """Writes the hashes of all files, in order; returns the number of cases."""
    files = {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
    cases = sum(name.endswith("/case.json") for name in files)
    manifest = {"schema": "touchstone.suite/1", "version": version, "cases": cases, "files": files}
    (root / "manifest.json").write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    return cases
