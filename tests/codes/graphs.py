"""Models of many nodes at once: each node carries its expected output, bit for bit, and the judge must confirm it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper

from tests.codes.formats import BITS, CODES, NAMES, floats, holder, is_nan
from tests.witnessed import in_force, saw

BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", Path(__file__).parents[2] / "build"))
NEWEST = 28
PASSES = ("exact", "within", "in-set")


@dataclass(frozen=True)
class Codes:
    """A tensor: its type, and the bits of each element as an unsigned integer (for strings, the bytes)."""

    type: str
    codes: np.ndarray

    def at(self, positions: np.ndarray) -> Codes:
        """The elements at these flat positions, in the shape of `positions`."""
        return Codes(self.type, self.codes.ravel()[positions])


@dataclass(frozen=True)
class Wanted:
    """The expected output of one node. `any_nan` accepts any NaN for a NaN, `any_zero` a zero of either sign."""

    name: str
    label: str
    value: Codes
    any_nan: bool
    any_zero: bool
    settled: np.ndarray | None = None  # elements that the standard defines; None: all


def touchstone(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [str(word) for word in (BUILD / "touchstone", *arguments)]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=300)


def output_of(*arguments: object) -> str:
    """The stdout of a command that must succeed."""
    done = touchstone(*arguments)
    assert done.returncode == 0, f"{' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}"
    return done.stdout


def judgement(
    folder: Path, model: onnx.ModelProto, inputs: Iterable[bytes], outputs: Iterable[bytes]
) -> dict[str, Any]:
    """The judge's JSON for these outputs of a model, given the inputs; each value is a serialized TensorProto."""
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    for side, values in (("input", inputs), ("output", outputs)):
        for position, value in enumerate(values):
            (data / f"{side}_{position}.pb").write_bytes(value)
    done = touchstone("judge", folder / "model.onnx", "--test-data", data, "--json")
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@cache
def has_judge() -> bool:
    """True unless the build is sanitized or lacks the judge. A sanitized build checks refusals alone, since its judge
    is slow.
    """
    return "asan" not in BUILD.name and "judge" in touchstone("--help").stdout


def bit_stream(codes: np.ndarray, bits: int) -> bytes:
    """Packs codes of fewer than 8 bits one after the other, from the lowest bit up."""
    return np.packbits(np.unpackbits(codes[:, None], axis=1, bitorder="little")[:, :bits], bitorder="little").tobytes()


def from_bit_stream(data: bytes, bits: int, size: int) -> np.ndarray:
    stream = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[: size * bits].reshape(size, bits)
    return np.packbits(stream, axis=1, bitorder="little").reshape(size)


def tensor_of(value: Codes, name: str = "") -> onnx.TensorProto:
    tensor = onnx.TensorProto(name=name, data_type=CODES[value.type], dims=value.codes.shape)
    if value.type == "string":
        tensor.string_data.extend(value.codes.ravel().tolist())
    elif BITS[value.type] < 8:
        tensor.raw_data = bit_stream(value.codes.ravel(), BITS[value.type])
    else:
        tensor.raw_data = value.codes.tobytes()
    return tensor


def codes_in(file: Path) -> Codes:
    tensor = onnx.TensorProto.FromString(file.read_bytes())
    name, size = NAMES[tensor.data_type], int(np.prod(tensor.dims))
    if name == "string":
        codes = np.array([*tensor.string_data, None], dtype=object)[:-1]
    elif BITS[name] < 8:
        assert len(tensor.raw_data) == (size * BITS[name] + 7) // 8
        codes = from_bit_stream(tensor.raw_data, BITS[name], size)
    else:
        codes = np.frombuffer(tensor.raw_data, holder(name))
    return Codes(name, codes.reshape(tuple(tensor.dims)))


def int64s(values: Sequence[int] | int) -> Codes:
    return Codes("int64", np.array(values, dtype=np.int64).view(np.uint64))


def tapped(folder: Path) -> dict[str, Path]:
    """The file of each tapped node output, by output name."""
    nodes = json.loads((folder / "taps.json").read_text(encoding="utf-8"))["nodes"]
    return {one["name"]: folder / one["file"] for node in nodes for one in node["outputs"]}


@dataclass(repr=False)  # the repr of a failing test would be huge
class Graph:
    """A model that grows by inputs and by nodes with expected outputs."""

    opset: int = NEWEST
    feeds: dict[str, Codes] = field(default_factory=dict)
    held: list[onnx.TensorProto] = field(default_factory=list)
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    wanted: list[Wanted] = field(default_factory=list)

    def feed(self, value: Codes) -> str:
        name = f"x{len(self.feeds)}"
        self.feeds[name] = value
        return name

    def hold(self, value: Codes) -> str:
        """Adds an initializer and returns its name."""
        self.held.append(tensor_of(value, f"c{len(self.held)}"))
        return self.held[-1].name

    def want(
        self,
        op: str,
        inputs: Sequence[str | Codes],
        *values: Codes,
        any_nan: bool = True,
        any_zero: bool = False,
        settled: np.ndarray | None = None,
        **attributes: Any,
    ) -> None:
        """Adds a node and its expected outputs; an input is a name or a value, which becomes a model input."""
        names = [one if isinstance(one, str) else self.feed(one) for one in inputs]
        said = {key: value for key, value in attributes.items() if value is not None}
        types = [self.feeds[name].type for name in names if name in self.feeds]
        label = f"{op}({', '.join(types)}) {said or ''} -> {values[0].type} at opset {self.opset}"
        outputs = [f"y{len(self.wanted) + k}" for k in range(len(values))]
        self.wanted += [
            Wanted(name, label, value, any_nan, any_zero, settled) for name, value in zip(outputs, values, strict=True)
        ]
        self.nodes.append(helper.make_node(op, names, outputs, **said))

    def model(self) -> onnx.ModelProto:
        def info(name: str, value: Codes) -> onnx.ValueInfoProto:
            return helper.make_tensor_value_info(name, CODES[value.type], value.codes.shape)

        graph = helper.make_graph(
            self.nodes,
            "codes",
            [info(name, value) for name, value in self.feeds.items()],
            [info(one.name, one.value) for one in self.wanted],
            self.held,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=14)

    def check(self, folder: Path) -> None:
        """Runs the model, compares every output with the expected one, then passes every node to the judge."""
        made = self.outputs(folder)
        wrong = [difference(one, value) for one, value in zip(self.wanted, made, strict=True)]
        wrong = [text for text in wrong if text]
        assert not wrong, f"{len(wrong)} of {len(self.wanted)}:\n" + "\n".join(wrong[:40])
        if has_judge():
            nodes = self.judged(folder)
            refused = [self.refusal(node, made) for node, made in zip(nodes, self.nodes, strict=True)]
            refused = [text for text in refused if text]
            assert not refused, f"the judge refuses {len(refused)} of {len(nodes)}:\n" + "\n".join(refused[:40])
        saw("codes", *sorted({in_force(node.op_type, self.opset) for node in self.nodes}))

    def run(self, folder: Path) -> subprocess.CompletedProcess[str]:
        """Writes the model and its feeds, and runs it with every node's output tapped."""
        assert self.wanted, "nothing is asked"
        onnx.save(self.model(), folder / "model.onnx")
        feeds: list[object] = []
        for name, value in self.feeds.items():
            (folder / f"{name}.pb").write_bytes(tensor_of(value).SerializeToString())
            feeds += ["--input", f"{name}={folder / name}.pb"]
        return touchstone("run", folder / "model.onnx", *feeds, "--tap", folder / "taps")

    def outputs(self, folder: Path) -> list[Codes]:
        done = self.run(folder)
        assert done.returncode == 0, done.stderr
        files = tapped(folder / "taps")
        return [codes_in(files[one.name]) for one in self.wanted]

    def judged(self, folder: Path) -> list[dict[str, Any]]:
        """The judge's JSON for each node, on the values tapped in the run."""
        asked = ("judge", folder / "model.onnx", "--taps", folder / "taps", "--class", "strict", "--json")
        done = touchstone(*asked)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)["nodes"]

    def spoil(self, folder: Path) -> list[str]:
        """Corrupts one element of each tapped output (call after check) and returns the nodes that the judge still
        accepts.
        """
        files = tapped(folder / "taps")
        for one in self.wanted:
            codes = one.value.codes.copy()
            numbers = np.flatnonzero(
                ~is_nan(one.value.type, codes.ravel()) & (True if one.settled is None else one.settled)
            )
            where = numbers[numbers.size // 3]
            if codes.dtype == object:
                codes.reshape(-1)[where] += b"!"
            else:
                part = codes.view(np.uint8).reshape(codes.size, -1)[where]
                part[-1] ^= 1 << (min(BITS[one.value.type], 8) - 2 if one.value.type != "bool" else 0)
            files[one.name].write_bytes(tensor_of(Codes(one.value.type, codes), one.name).SerializeToString())
        nodes = zip(self.judged(folder), self.wanted, strict=True)
        return [f"  {one.label}: {node['verdict']}" for node, one in nodes if node["verdict"] != "wrong-value"]

    def refusal(self, node: dict[str, Any], asked: onnx.NodeProto) -> str:
        if node["verdict"] in PASSES:
            return ""
        label = next(one.label for one in self.wanted if one.name == asked.output[0])
        where = [(out["verdict"], out["where"], out["actual"], out["expected"]) for out in node.get("outputs", [])]
        return f"  {label}: {node['verdict']} {node['detail']} {where}"


def difference(wanted: Wanted, found: Codes) -> str:
    """The first elements that differ, as text, or ""."""
    value = wanted.value
    if (value.type, value.codes.shape) != (found.type, found.codes.shape):
        return f"  {wanted.label}: {found.type}{found.codes.shape} instead of {value.type}{value.codes.shape}"
    left, right = found.codes.ravel(), value.codes.ravel()
    differs = left != right
    if wanted.any_nan and value.type != "string" and differs.any():
        differs &= ~(is_nan(value.type, left) & is_nan(value.type, right))
    if wanted.any_zero:
        differs &= (floats(value.type, left) != 0) | (floats(value.type, right) != 0)
    if not differs.any():
        return ""
    where = np.flatnonzero(differs)
    shown = ", ".join(f"[{k}] {left[k]!r} instead of {right[k]!r}" for k in where[:4])
    return f"  {wanted.label}: {where.size} of {left.size} differ: {shown}"
