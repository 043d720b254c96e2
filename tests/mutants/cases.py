"""Selects the cases that a mutant runs: those of its operator, of any version, with the most diverse first."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import onnx

from codegen.entry import Version
from codegen.parameters import class_of
from conformance.suites.spec_lines import suite_lines

MAX = 400  # cases that a mutant may run
MAX_BYTES = 400_000  # of inputs, so that judging is fast


LINE = re.compile(r"(?:(?P<domain>ai\.[\w.]+)\.)?(?P<op>\w+)-(?P<since>\d+)\((?P<rest>.*)")


@dataclass(frozen=True)
class Case:
    place: str  # a folder, or a line of the spec suite (conformance/suites/line.h)
    op: str
    since: int
    types: tuple[str, ...]  # of the given inputs, "" for an omitted one
    features: frozenset[str]


def domain_of(node: onnx.NodeProto) -> str:
    return node.domain or "ai.onnx"


def element_types(graph: onnx.GraphProto) -> dict[str, str]:
    """Element types by name, spelled as in spec/types.yaml: float, uint8, string ..."""
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
    """Features of a case: attributes with their values, inputs, outputs, types, ranks."""
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
    """A case from a folder. None for several nodes, an unknown operator, or missing or too large inputs."""
    inputs = folder / "test_data_set_0"
    if not inputs.is_dir() or sum(f.stat().st_size for f in inputs.iterdir()) > MAX_BYTES:
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
        str(folder),
        f"{domain_of(node)}/{node.op_type}",
        since,
        types,
        features_of(graph, types, [f.stat().st_size for f in sorted(inputs.glob("input_*"))]),
    )


def parts_of(text: str, mark: str) -> list[str]:
    """Splits at each mark outside brackets and quotes."""
    parts, depth, quoted = [""], 0, False
    for k, letter in enumerate(text):
        quoted ^= letter == '"' and text[k - 1 : k] != "\\"
        if not quoted:
            depth += (letter in "([{<") - (letter in ")]}>")
        if letter == mark and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def ports_of(rest: str) -> tuple[list[str], list[str]]:
    """Splits the text after the opening bracket into the inputs and the words after the closing bracket."""
    depth, quoted = 1, False
    for k, letter in enumerate(rest):
        quoted ^= letter == '"' and rest[k - 1 : k] != "\\"
        if not quoted:
            depth += (letter in "([{") - (letter in ")]}")
        if depth == 0:
            return parts_of(rest[:k], ","), parts_of(rest[k + 1 :].replace("->", ""), " ")
    raise ValueError(f"no end of the inputs in {rest}")


def read_line(text: str) -> Case | None:
    """A case from a line; None for a negative case."""
    found = LINE.fullmatch(text)
    if not found or re.search(r" ![\w.]+[-/][\w./-]+$", text):
        return None
    ports, words = ports_of(found["rest"])
    tensors = [re.match(r"\*?(\w+)\[([^\]]*)\](.?)", port) for port in ports]
    types = tuple(tensor[1] if tensor else "" for tensor in tensors)
    features = {f"since={found['since']}", f"inputs={''.join('-' if port == '_' else 'x' for port in ports)}"}
    features |= {f"type{k}={element}" for k, element in enumerate(types)}
    features |= {f"rank{k}={len(parts_of(tensor[2], ','))}" for k, tensor in enumerate(tensors) if tensor}
    features |= {
        f"data{k}={port[tensor.end() - 1 :][:8]}"
        for k, (port, tensor) in enumerate(zip(ports, tensors, strict=True))
        if tensor
    }
    features |= {name for word in words for name in (word.partition("=")[0], word)}
    op = f"{found['domain'] or 'ai.onnx'}/{found['op']}"
    return Case(text, op, int(found["since"]), types, frozenset(features))


def read_lines(root: Path) -> dict[tuple[str, int], list[Case]]:
    """Operator and version -> the valid lines of the spec suite."""
    found: dict[tuple[str, int], list[Case]] = defaultdict(list)
    for text in suite_lines(root):
        if case := read_line(text):
            found[case.op, case.since].append(case)
    return found


def read_cases(roots: Iterable[Path]) -> dict[tuple[str, int], list[Case]]:
    """Operator and version -> cases, in a deterministic order."""
    found: dict[tuple[str, int], list[Case]] = defaultdict(list)
    for root in roots:
        files = sorted(root.rglob("model.onnx"))
        if not files:
            raise FileNotFoundError(f"{root} holds no cases")
        for file in files:
            case = read_case(file.parent)
            if case:
                found[case.op, case.since].append(case)
    return found


def classes_of(case: Case, version: Version) -> dict[str, str]:
    """Constraint -> the C++ class in which this case computes it."""
    found: dict[str, str] = {}
    for k, element in enumerate(case.types):
        parameter = version.inputs[min(k, len(version.inputs) - 1)]
        if element and parameter.type in version.types:
            found.setdefault(parameter.type, class_of(element))
    return found


def in_order(cases: list[Case]) -> list[Case]:
    return sorted(cases, key=lambda c: hashlib.sha256("/".join(c.place.split("/")[-3:]).encode()).hexdigest())


def chosen(cases: list[Case], most: int = MAX) -> list[Case]:
    """Repeatedly takes the case with the most features that no earlier case had."""
    left, seen, taken = in_order(cases), set(), []
    while left and len(taken) < most:
        best = max(range(len(left)), key=lambda k: (len(left[k].features - seen), -k))
        taken.append(left.pop(best))
        seen |= taken[-1].features
        if not any(c.features - seen for c in left):
            seen = set()  # starts over once all features are covered
    return taken


def by_class(cases: list[Case], version: Version, max_groups: int = 4) -> list[Case]:
    """Cases of at most four groups of types, to compile few kernels: floats first, then the largest groups.

    Those with double are last, since double computes as float does. A fifth group joins if classes meet in it that meet
    in none of the four: float8 in, float8 out.
    """
    groups: dict[str, list[Case]] = defaultdict(list)
    pairs: dict[str, set[tuple[tuple[str, str], ...]]] = {}
    for case in cases:
        classes = sorted(classes_of(case, version).items())
        groups[repr(classes)].append(case)
        pairs[repr(classes)] = set(combinations(classes, 2))
    ranked = sorted(groups, key=lambda g: ("'float'" not in g, "'double'" in g, -len(groups[g]), g))
    taken = ranked[:max_groups]
    met = set().union(*(pairs[g] for g in taken))
    others = [g for g in ranked[max_groups:] if "'double'" not in g and pairs[g] - met]
    taken += [max(others, key=lambda g: len(pairs[g] - met))] if others else []
    return [case for g in taken for case in groups[g]]
