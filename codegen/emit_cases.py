"""Writes the literal `cases:` of entries as backend-test folders: OUT/positive/<domain>/<Operator>-<since>/<case>/.

A case runs at its own version and at every later one that inherits it. Inheritance ends at a version that has another
case of the same name, or null, or lacks one of the case's names. Its model has one node and the newest opset in which
the version is in force. A case with `raises: C1` has no outputs: that rule must refuse it, in OUT/negative. At a
deprecated version every case is refused.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import yaml
from onnx import helper, numpy_helper

from codegen.case_values import Literal, Tensor, attribute_value, element_by_literal, is_tensor, literal, no_value
from codegen.entry import Operator, Parameter, SpecError, Version
from codegen.load import load_spec
from codegen.units import with_distinct_names
from codegen.value_types import ELEMENTS
from codegen.write import run_emitter

RAISES = "raises"
GRAPHS_OPSET = 21


@dataclass(frozen=True)
class Release:
    ir: int
    opsets: dict[str, int]


@dataclass
class Case:
    """One case at one version, with the full content of its folder."""

    name: str
    version: Version
    opset: int
    ir: int
    raises: str  # a rule's id, "" if the case has outputs
    model: onnx.ModelProto
    inputs: list[bytes]
    outputs: list[bytes] = field(default_factory=list)

    @property
    def folder(self) -> str:
        return f"{self.version.domain}/{self.version.name}/{self.name}"


def load_releases(spec: Path) -> list[Release]:
    rows = yaml.safe_load((spec / "releases.yaml").read_text(encoding="utf-8"))["releases"]
    return [Release(row["ir"], row["opsets"]) for row in rows]


def newest_opset(operator: Operator, version: Version, releases: list[Release]) -> int:
    """Returns the last opset before the next version, or else the newest one."""
    later = [each.since for each in operator.versions if each.since > version.since]
    return min(later) - 1 if later else max(release.opsets.get(operator.domain, 1) for release in releases)


def ir_for(domain: str, opset: int, releases: list[Release]) -> int:
    """Returns the IR version of the first release with this opset."""
    return next((r.ir for r in releases if r.opsets.get(domain, 0) >= opset), releases[-1].ir)


def said_cases(operators: list[Operator]) -> Iterator[tuple[Version, str, dict[str, Any]]]:
    """Yields every case at every version where it runs, as written in the entry."""
    for operator in operators:
        for version in reversed(operator.versions):
            if version.kind == "none":
                continue
            for name, says in version.cases.items():
                if names(says) <= known(version) or home_of(operator, name, says) == version.since:
                    yield version, name, says


def all_cases(operators: list[Operator], releases: list[Release]) -> Iterator[Case]:
    by_name = {(operator.domain, operator.op): operator for operator in operators}
    for version, name, says in said_cases(operators):
        opset = newest_opset(by_name[version.domain, version.op], version, releases)
        yield make_case(version, name, says, opset, ir_for(version.domain, opset, releases))


def names(says: dict[str, Any]) -> set[str]:
    return says.keys() - {RAISES}


def known(version: Version) -> set[str]:
    told = with_distinct_names(version)
    return {each.name for each in (*told.inputs, *told.outputs, *version.attributes)}


def outputs_of(version: Version) -> list[Parameter]:
    """Returns the outputs by their notation names: an output with an input's name is out_<name>."""
    return with_distinct_names(version).outputs


def home_of(operator: Operator, name: str, says: dict[str, Any]) -> int:
    """Returns the oldest version with exactly this case; later versions inherit it."""
    return min(version.since for version in operator.versions if version.cases.get(name) == says)


def make_case(version: Version, name: str, says: dict[str, Any], opset: int, ir: int) -> Case:
    try:
        for key in sorted(names(says) - known(version)):
            raise ValueError(f"{version.name} has no '{key}'")
        return Maker(version, says).make(name, opset, ir)
    except (ValueError, TypeError, OverflowError) as error:
        raise SpecError(version.path, version.line, f"case {name}: {error}") from error


def inputs_of(version: Version, says: dict[str, Any]) -> list[tuple[str, Literal]]:
    """Returns the inputs of a case, port by port; "" names an omitted one."""
    return Maker(version, says).side(with_distinct_names(version).inputs, set())


class Maker:
    def __init__(self, version: Version, says: dict[str, Any]):
        self.version, self.says = version, says
        self.bound: dict[str, str] = {}  # constraint -> type that an input bound

    def make(self, name: str, opset: int, ir: int) -> Case:
        version, raises = self.version, self.says.get(RAISES, "")
        if self.version.deprecated and not self.version.lived:  # no model may use it in these opsets
            raises = "model/deprecated"
        if raises and "/" not in raises and raises not in {rule.id for rule in version.rules}:
            raise ValueError(f"{version.name} has no rule {raises}")
        inputs = self.side(with_distinct_names(version).inputs, set())
        attributes = [
            helper.make_attribute(a.name, attribute_value(a.kind, self.says[a.name]), attr_type=_kind(a.kind))
            for a in version.attributes
            if a.name in self.says
        ]
        results = outputs_of(version)
        outputs = self.side(results, {p.name for p in results if raises and not p.optional})
        if not any(port for port, _ in outputs):
            raise ValueError("the case has no output")
        node = helper.make_node(
            version.op,
            [port for port, _ in inputs],
            [port for port, _ in outputs],
            domain=domain_in_files(version.domain),
        )
        node.attribute.extend(attributes)
        graph = helper.make_graph([node], "case", _infos(inputs), _infos(outputs))
        imports = [helper.make_opsetid(domain_in_files(version.domain), opset)]
        if version.domain != "ai.onnx" and any(a.kind == "graph" and a.name in self.says for a in version.attributes):
            # The nodes of the attribute's graph belong to the default domain.
            imports.append(helper.make_opsetid("", GRAPHS_OPSET))
        model = helper.make_model(graph, opset_imports=imports, ir_version=ir, producer_name="touchstone")
        values = [] if raises else [value_bytes(port, value) for port, value in outputs if port]
        case_inputs = [value_bytes(port, value) for port, value in inputs if port]
        return Case(name, version, opset, ir, raises, model, case_inputs, values)

    def side(self, parameters: list[Parameter], placeholders: set[str]) -> list[tuple[str, Literal]]:
        """Returns the node's ports with their values; "" names an omitted optional port in the middle."""
        ports: list[tuple[str, Literal]] = []
        for parameter in parameters:
            if parameter.name in self.says:
                value = self.says[parameter.name]
                if not parameter.variadic:
                    ports.append((parameter.name, self.value(parameter, value)))
                    continue
                if not isinstance(value, list):
                    raise ValueError(f"{parameter.name} is variadic: a list of tensors")
                ports += [(f"{parameter.name}_{k}", self.value(parameter, one)) for k, one in enumerate(value)]
            elif parameter.name in placeholders:
                ports.append((parameter.name, no_value(self.element(parameter, 0.0))))
            elif parameter.variadic:
                continue
            else:
                ports.append(("", Tensor(np.zeros(0, np.float32), "float")))
        while ports and not ports[-1][0]:
            ports.pop()
        return ports

    def value(self, parameter: Parameter, says: Any) -> Literal:
        made = literal(says, lambda first: self.element(parameter, first))
        allowed = self.version.types.get(parameter.type, [parameter.type])
        if made.type not in allowed:
            raise ValueError(f"{parameter.name} is {made.type}, and may be {', '.join(allowed)}")
        if parameter.type in self.version.types and parameter.homogeneous:
            self.bound.setdefault(parameter.type, made.type)
        return made

    def element(self, parameter: Parameter, first: Any) -> str:
        """Returns the type of a bare literal: the bound type, the only allowed type, or a guess from the number."""
        if parameter.type not in self.version.types:
            return parameter.type
        if parameter.type in self.bound:
            return self.bound[parameter.type]
        allowed = self.version.types[parameter.type]
        if RAISES in self.says and not set(allowed) & set(ELEMENTS):  # type of an output that is never made
            return next((type_ for type_ in allowed if "(float)" in type_), allowed[0])
        return element_by_literal(first, allowed, parameter.name)


def domain_in_files(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _kind(kind: str) -> int:
    code = {"type": "TYPE_PROTO", "types": "TYPE_PROTOS"}.get(kind, kind.upper())
    return onnx.AttributeProto.AttributeType.Value(code)


def _infos(ports: list[tuple[str, Literal]]) -> list[onnx.ValueInfoProto]:
    return [helper.make_value_info(port, value.type_proto()) for port, value in ports if port]


def value_bytes(port: str, value: Literal) -> bytes:
    proto = numpy_helper.from_array(value.array, port) if is_tensor(value) else value.proto()
    proto.name = port
    return proto.SerializeToString(deterministic=True)


def write_case(root: Path, case: Case) -> None:
    folder = root / case.folder
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString(deterministic=True))
    for side, values in (("input", case.inputs), ("output", case.outputs)):
        for position, value in enumerate(values):
            (data / f"{side}_{position}.pb").write_bytes(value)
    version = case.version
    facts: dict[str, Any] = {"name": case.name, "version": version.name, "source": f"{version.path}:{version.line}"}
    # Zero tolerance: any output that is not equal must pass the judge.
    facts |= {"rule": case.raises} if case.raises else {"rtol": 0.0, "atol": 0.0}
    (folder / "case.json").write_text(json.dumps(facts, sort_keys=True) + "\n", encoding="utf-8")


def emit(operators: list[Operator], releases: list[Release], out: Path) -> list[Case]:
    """Rewrites OUT/positive and OUT/negative; returns the cases."""
    cases = list(all_cases(operators, releases))
    for kind in ("positive", "negative"):
        shutil.rmtree(out / kind, ignore_errors=True)
    for case in cases:
        write_case(out / ("negative" if case.raises else "positive"), case)
    return cases


if __name__ == "__main__":
    sys.exit(run_emitter(__doc__, lambda spec, out: emit(load_spec(spec), load_releases(spec), out)))
