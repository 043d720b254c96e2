"""Which cases a mutant is shown: those of its operator, of any version, in an order that has what differs first."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import onnx

from codegen.entry import Version
from codegen.parameters import class_of

MOST = 300  # cases that a mutant may be shown
MOST_BYTES = 400_000  # of inputs: a mutant is judged on small data


@dataclass(frozen=True)
class Case:
    folder: Path
    op: str
    since: int
    types: tuple[str, ...]  # of the inputs that are given, "" where one is left out
    features: frozenset[str]


def domain_of(node: onnx.NodeProto) -> str:
    return node.domain or "ai.onnx"


def element_types(graph: onnx.GraphProto) -> dict[str, str]:
    """Names as spec/types.yaml has them: float, uint8, string ..."""
    found = {t.name: onnx.TensorProto.DataType.Name(t.data_type).lower() for t in graph.initializer}
    for info in [*graph.input, *graph.value_info, *graph.output]:
        if info.type.HasField("tensor_type"):
            found[info.name] = onnx.TensorProto.DataType.Name(info.type.tensor_type.elem_type).lower()
    return found


def rank_of(graph: onnx.GraphProto, name: str) -> int:
    for info in graph.input:
        if info.name == name:
            return len(info.type.tensor_type.shape.dim)
    return -1


def features_of(graph: onnx.GraphProto, types: tuple[str, ...], sizes: list[int]) -> frozenset[str]:
    """What a case has that another may lack: attributes with their values, inputs, outputs, types, ranks."""
    node = graph.node[0]
    found = {f"inputs={''.join('x' if name else '-' for name in node.input)}"}
    found |= {f"outputs={''.join('x' if name else '-' for name in node.output)}"}
    found |= {f"size{k}={int(size).bit_length() // 3}" for k, size in enumerate(sizes)}
    found |= {f"type{k}={t}" for k, t in enumerate(types)}
    found |= {f"rank{k}={rank_of(graph, name)}" for k, name in enumerate(node.input)}
    for a in node.attribute:
        value = onnx.helper.get_attribute_value(a)
        found |= {f"{a.name}", f"{a.name}={value if not isinstance(value, onnx.TensorProto) else 'tensor'}"}
    return frozenset(found)


def read_case(folder: Path) -> Case | None:
    """None: several nodes, an unknown operator, data that is too large or that no file holds."""
    inputs = folder / "test_data_set_0"
    if not inputs.is_dir() or sum(f.stat().st_size for f in inputs.iterdir()) > MOST_BYTES:
        return None
    model = onnx.load(folder / "model.onnx")
    graph = model.graph
    if len(graph.node) != 1:
        return None
    node = graph.node[0]
    opset = next((o.version for o in model.opset_import if (o.domain or "ai.onnx") == domain_of(node)), 0)
    try:
        since = onnx.defs.get_schema(
            node.op_type, opset, "" if domain_of(node) == "ai.onnx" else node.domain
        ).since_version
    except onnx.defs.SchemaError:
        return None
    known = element_types(graph)
    types = tuple(known.get(name, "") for name in node.input)
    return Case(
        folder,
        f"{domain_of(node)}/{node.op_type}",
        since,
        types,
        features_of(graph, types, [f.stat().st_size for f in sorted(inputs.glob("input_*"))]),
    )


def read_cases(roots: Iterable[Path]) -> dict[tuple[str, int], list[Case]]:
    """Operator and version -> cases, in an order that chance has no part in."""
    found: dict[tuple[str, int], list[Case]] = defaultdict(list)
    for root in roots:
        for file in sorted(root.rglob("model.onnx")):
            case = read_case(file.parent)
            if case:
                found[case.op, case.since].append(case)
    return found


def classes_of(case: Case, version: Version) -> dict[str, str]:
    """Constraint -> the C++ class that this case computes it in."""
    found: dict[str, str] = {}
    for k, element in enumerate(case.types):
        parameter = version.inputs[min(k, len(version.inputs) - 1)]
        if element and parameter.type in version.types:
            found.setdefault(parameter.type, class_of(element))
    return found


def in_order(cases: list[Case]) -> list[Case]:
    return sorted(cases, key=lambda c: hashlib.sha256(str(c.folder.parts[-3:]).encode()).hexdigest())


def chosen(cases: list[Case], most: int = MOST) -> list[Case]:
    """Again and again the case that has most of what none before it had."""
    left, seen, taken = in_order(cases), set(), []
    while left and len(taken) < most:
        best = max(left, key=lambda c: (len(c.features - seen), -left.index(c)))
        left.remove(best)
        seen |= best.features
        taken.append(best)
    return taken


def by_class(cases: list[Case], version: Version, most_groups: int = 4) -> list[Case]:
    """Cases of at most four groups of types, so that few kernels are compiled: floats first, then what has most cases."""
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        groups[repr(sorted(classes_of(case, version).items()))].append(case)
    ranked = sorted(groups.items(), key=lambda g: ("'float'" not in g[0], -len(g[1]), g[0]))
    return [case for _, group in ranked[:most_groups] for case in group]
