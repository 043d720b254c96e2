"""Makes the models and feeds of the command line's golden tests: valid ones, and one for each kind of invalid file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def value(name: str, shape: list[Any] | None = None, kind: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, ["batch", 3] if shape is None else shape)


def model(
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto] | None = None,
    outputs: list[onnx.ValueInfoProto] | None = None,
    initializers: list[TensorProto] | None = None,
    opset: int = 13,
    functions: list[onnx.FunctionProto] | None = None,
    domains: tuple[str, ...] = (),
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes, "main", [value("x")] if inputs is None else inputs, outputs or [value("y")], initializers or []
    )
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(
        graph, opset_imports=imports, ir_version=8, producer_name="tests/cli", functions=functions or []
    )


def node(op: str, inputs: list[str], outputs: list[str], **more: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs, outputs, **more)


def external(location: str, length: int = 12, offset: int = 0) -> onnx.ModelProto:
    """x + w, where w's three floats are stored as external data."""
    tensor = TensorProto(name="w", dims=[3], data_type=FLOAT, data_location=TensorProto.EXTERNAL)
    for key, text in (("location", location), ("offset", str(offset)), ("length", str(length))):
        tensor.external_data.add(key=key, value=text)
    return model([node("Add", ["x", "w"], ["y"])], initializers=[tensor])


def short_initializer() -> onnx.ModelProto:
    tensor = TensorProto(name="w", dims=[3], data_type=FLOAT, raw_data=b"\0" * 11)
    return model([node("Add", ["x", "w"], ["y"])], initializers=[tensor])


OPSETS = [helper.make_opsetid("", 13), helper.make_opsetid("mine", 1)]


def recursive_function() -> onnx.ModelProto:
    first = helper.make_function("mine", "First", ["a"], ["b"], [node("Second", ["a"], ["b"], domain="mine")], OPSETS)
    second = helper.make_function("mine", "Second", ["a"], ["b"], [node("First", ["a"], ["b"], domain="mine")], OPSETS)
    return model([node("First", ["x"], ["y"], domain="mine")], functions=[first, second], domains=("mine",))


def field(number: int, message: bytes) -> bytes:
    """A nested message in protobuf's wire format; Python's protobuf refuses to write more than 100 levels."""
    size, prefix = len(message), bytearray([number << 3 | 2])
    while size > 0x7F:
        prefix.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes(prefix + bytearray([size])) + message


def nested(depth: int) -> bytes:
    """A model of If nodes nested `depth` deep."""
    body = helper.make_graph([node("Relu", ["x"], ["inner"])], "g", [], [value("inner")]).SerializeToString()
    for level in range(depth):
        name = helper.make_attribute("then_branch", 0)
        name.ClearField("i")
        name.type = onnx.AttributeProto.GRAPH
        branch = node("If", ["flag"], [f"o{level}"]).SerializeToString()
        branch += field(5, name.SerializeToString() + field(6, body))
        body = helper.make_graph([], f"g{level}", [], [value(f"o{level}")]).SerializeToString() + field(1, branch)
    outer = model([node("Relu", ["x"], ["y"])])
    outer.ClearField("graph")
    return outer.SerializeToString() + field(7, body)


def chained() -> onnx.ModelProto:
    """A model whose shapes depend on values, on a window, on a branch and on a function."""
    half = helper.make_function(
        "mine", "Halve", ["a"], ["b"], [node("MaxPool", ["a"], ["b"], kernel_shape=[2], strides=[2])], OPSETS[:1]
    )
    branches = {
        f"{name}_branch": helper.make_graph(
            [node(op, ["halved"], ["inner"])], name, [], [helper.make_tensor_value_info("inner", FLOAT, None)]
        )
        for name, op in (("then", "Relu"), ("else", "Sigmoid"))
    }
    nodes = [
        node("Halve", ["x"], ["halved"], domain="mine"),
        node("If", ["flag"], ["chosen"], **branches),
        node("Shape", ["chosen"], ["size"]),
        node("Gather", ["size", "first"], ["batch"]),
        node("Concat", ["batch", "rest"], ["wanted"], axis=0),
        node("Reshape", ["chosen", "wanted"], ["flat"]),
        node("Concat", ["flat", "flat"], ["y"], axis=0),
    ]
    inputs = [value("x", ["batch", 3, "time"]), value("flag", [], TensorProto.BOOL)]
    constants = [helper.make_tensor("first", INT64, [1], [0]), helper.make_tensor("rest", INT64, [1], [-1])]
    return model(nodes, inputs, [value("y", [None, None])], constants, functions=[half], domains=("mine",))


def wasteful() -> onnx.ModelProto:
    """A model with a multiplication by a computed constant, an Identity and a dead node."""
    nodes = [
        node("Add", ["k", "k"], ["twice"], name="constant"),
        node("Identity", ["x"], ["same"], name="same"),
        node("Abs", ["same"], ["unused"], name="unused"),
        node("Mul", ["same", "twice"], ["y"], name="product"),
    ]
    return model(nodes, initializers=[helper.make_tensor("k", FLOAT, [3], [1, 2, 3])])


def described() -> onnx.ModelProto:
    """A model with all metadata that is kept, and two fields that are dropped."""
    made = model([node("Relu", ["x"], ["y"], name="act", doc_string="clamps")])
    made.producer_version, made.domain, made.model_version = "1.2", "com.example", 7
    made.doc_string, made.graph.doc_string = "a model", "a graph"
    made.metadata_props.add(key="names", value="{0: 'cat'}")
    made.metadata_props.add(key="vocabulary", value="word\n" * 100)
    made.graph.quantization_annotation.add(tensor_name="x")
    made.training_info.add()
    return made


def slow() -> onnx.ModelProto:
    """A model with a tuned kernel, a view, a folded node, and a norm of doubles, on the reference."""
    nodes = [
        node("Relu", ["x"], ["a"], name="act"),
        node("Cast", ["a"], ["wide"], name="widened", to=TensorProto.DOUBLE),
        node("LpNormalization", ["wide"], ["p"], name="norm"),
        node("Unsqueeze", ["p", "axes"], ["y"], name="wider"),
        node("Shape", ["x"], ["size"], name="size"),
    ]
    outputs = [value("y", ["batch", 3, 1], TensorProto.DOUBLE), value("size", [2], INT64)]
    return model(nodes, None, outputs, [helper.make_tensor("axes", INT64, [1], [2])])


def models() -> dict[str, onnx.ModelProto]:
    add = node("Add", ["x", "b"], ["y"], name="sum")
    pair = [value("x"), value("b", [3])]
    relu = node("Relu", ["x"], ["y"], name="act")
    gather = node("Gather", ["x", "i"], ["y"], name="pick")
    large = node("Expand", ["x", "sizes"], ["large"], name="grow")
    sizes = onnx.numpy_helper.from_array(np.int64([2**40, 1, 1]), "sizes")
    clip = node("Clip", ["x", "lo"], ["y"], name="act3")
    return {
        "add": model([add], pair),
        "cyclic": model([node("Add", ["x", "c"], ["b"], name="n1"), node("Relu", ["b"], ["c"], name="n2"), add]),
        "two_types": model([add], [value("x"), value("b", [3], INT64)]),
        "type_not_allowed": model([relu], [value("x", kind=TensorProto.STRING)], [value("y", kind=TensorProto.STRING)]),
        "short_initializer": short_initializer(),
        "external_missing": external("missing.bin"),
        "external_escapes": external("../outside.bin"),
        "external_absolute": external("/etc/hostname"),
        "external_link": external("link.bin"),
        "external_beyond": external("inside.bin", length=12, offset=4),
        "unknown_operator": model([node("Frobnicate", ["x"], ["y"], name="f")]),
        "unknown_domain": model([node("FusedThing", ["x"], ["y"], domain="com.example")], domains=("com.example",)),
        "unknown_vendor": model(
            [node("FusedMatMul", ["x", "x"], ["y"], domain="com.microsoft")], domains=("com.microsoft",)
        ),
        "described": described(),
        "unknown_opset": model([relu], opset=99),
        "too_early": model([node("Gelu", ["x"], ["y"], name="g")], opset=13),
        "removed": model([node("Upsample", ["x", "s"], ["y"])], [value("x"), value("s", [2])], opset=10),
        "unknown_attribute": model([node("Relu", ["x"], ["y"], name="act", speed=9)]),
        "wrong_attribute": model([node("Concat", ["x", "x"], ["y"], name="join", axis=1.5)]),
        "missing_attribute": model([node("Concat", ["x", "x"], ["y"], name="join")]),
        "too_many_inputs": model([node("Relu", ["x", "x"], ["y"], name="act")]),
        "twice": model([relu, node("Abs", ["x"], ["y"], name="again")]),
        "nowhere": model([node("Relu", ["z"], ["y"], name="act")]),
        "unproduced": model([node("Relu", ["x"], ["z"], name="act")]),
        "recursive": recursive_function(),
        "escape_codes": model([node("Frob\x1b[31m", ["x"], ["y"], name="n\x1b]0;owned\x07\u009b2J\u202e\u00e4")]),
        "rank_65": model([node("Add", ["x", "x"], ["y"])], [value("x", [1] * 65)], [value("y", [1] * 65)]),
        "clip": model([clip], [value("x"), value("lo", [8])]),
        "chained": chained(),
        "wasteful": wasteful(),
        "squeezed": model(
            [
                node("Squeeze", ["x"], ["s"], name="narrow", axes=[0]),
                node("Softmax", ["s"], ["y"], name="shares", axis=0),
            ],
            [value("x", [1, 3, 4])],
            [value("y", [3, 4])],
            opset=11,
        ),
        "determinant": model(
            [node("Abs", ["x"], ["a"], name="first"), node("Det", ["a"], ["y"], name="volume")],
            [value("x", [3, 3])],
            [value("y", [])],
        ),
        "chain3": model(
            [
                node("Abs", ["x"], ["a"], name="first"),
                node("Neg", ["a"], ["b"], name="middle"),
                node("Exp", ["b"], ["y"], name="last"),
            ]
        ),
        "one_size": model([add], [value("x", ["N", 2]), value("b", ["M", 2])], [value("y", ["N", 2])]),
        "never_fits": model([add], [value("x", ["N", 2]), value("b", [3])], [value("y", ["N", 3])]),
        "declared_wrong": model([add], [value("x", ["N", 2]), value("b", [2])], [value("y", ["N", 3])]),
        "rule_of_shapes": model([add], [value("x", [4, 2]), value("b", [3])], [value("y", [4, 3])]),
        "gather": model([gather], [value("x"), value("i", [1], INT64)]),
        "picked": model(
            [node("Abs", ["x"], ["a"], name="first"), node("Gather", ["a", "i"], ["y"], name="pick")],
            [value("x"), value("i", [1], INT64)],
        ),
        "slow": slow(),
        "too_large": model([large, node("Relu", ["large"], ["y"])], None, [value("y", ["a", "b", "c"])], [sizes]),
    }


def waivers(**more: str) -> str:
    """A JSON file of one waiver, valid except for the fields in `more`; an empty string leaves the key out."""
    row = {
        "target": "reference",
        "suite": "suite",
        "case": "test_a*",
        "link": "https://example.org/1",
        "reason": "known",
    }
    row = {key: text for key, text in ({**row, "expires": "9999-12-31"} | more).items() if text}
    return json.dumps({"schema": "touchstone.waivers/1", "waivers": [row]})


def make(folder: Path) -> None:
    """Writes every model and feed into `folder`, and next to it a file that external data must not reach."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, made in models().items():
        (folder / f"{name}.onnx").write_bytes(made.SerializeToString())
    (folder / "deep.onnx").write_bytes(nested(40))
    good = (folder / "add.onnx").read_bytes()
    (folder / "truncated.onnx").write_bytes(good[: len(good) // 2])
    (folder / "garbage.onnx").write_bytes(b"MZ\x90\x00 this is no model \xff\xff\xff\xff" * 10)
    (folder / "empty.onnx").write_bytes(b"")
    with (folder / "oversized.onnx").open("wb") as file:
        file.truncate(2**31)
    (folder.parent / "outside.bin").write_bytes(b"\0" * 12)
    (folder / "inside.bin").write_bytes(b"\0" * 12)
    (folder / "link.bin").unlink(missing_ok=True)
    (folder / "link.bin").symlink_to("../outside.bin")
    (folder / "folder.onnx").mkdir(exist_ok=True)
    np.save(folder / "x.npy", np.arange(6, dtype=np.float32).reshape(2, 3) - 2)
    np.save(folder / "b.npy", np.float32([0.5, 1, -1]))
    np.save(folder / "b_double.npy", np.float64([0.5, 1, -1]))
    np.save(folder / "b_four.npy", np.zeros(4, np.float32))
    np.save(folder / "b_rank2.npy", np.zeros((1, 3), np.float32))
    np.save(folder / "lo8.npy", np.zeros(8, np.float32))
    np.save(folder / "i7.npy", np.int64([7]))
    np.save(folder / "i0.npy", np.int64([0]))
    (folder / "broken.npy").write_bytes((folder / "b.npy").read_bytes()[:-1])
    (folder / "b.txt").write_text("0.5 1 -1\n")
    (folder / "expired.json").write_text(waivers(expires="2020-01-31"))
    (folder / "no_reason.json").write_text(waivers(reason=""))
    (folder / "unfed.json").write_text(json.dumps({"sets": [{"x": "x.npy"}]}))
    data = folder / "data"
    data.mkdir(exist_ok=True)
    arrays = {"input_0": np.load(folder / "x.npy"), "input_1": np.load(folder / "b.npy")}
    for name, array in arrays.items():
        (data / f"{name}.pb").write_bytes(onnx.numpy_helper.from_array(array).SerializeToString())
