"""Models of a few bytes that need excessive memory or work, one for each known kind."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, STRING, BOOL, UINT8 = (
    TensorProto.FLOAT,
    TensorProto.INT64,
    TensorProto.STRING,
    TensorProto.BOOL,
    TensorProto.UINT8,
)
node = helper.make_node


def value(name: str, kind: int = FLOAT, shape: list[Any] | None = None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def floats(name: str, *shape: int) -> TensorProto:
    return numpy_helper.from_array(np.ones(shape, np.float32), name)


def ints(name: str, *items: int) -> TensorProto:
    return helper.make_tensor(name, INT64, [len(items)], items)


def scalar(name: str, item: int) -> TensorProto:
    return helper.make_tensor(name, INT64, [], [item])


def texts(name: str, *items: bytes) -> TensorProto:
    return helper.make_tensor(name, STRING, [len(items)], items)


def octets(name: str, data: bytes) -> TensorProto:
    return numpy_helper.from_array(np.frombuffer(data, np.uint8), name)


def model(
    nodes: list[onnx.NodeProto],
    constants: list[TensorProto],
    inputs: list[onnx.ValueInfoProto] | None = None,
    opset: int = 21,
    result: int = FLOAT,
    functions: list[onnx.FunctionProto] | None = None,
    sparse: list[onnx.SparseTensorProto] | None = None,
) -> onnx.ModelProto:
    """A model of these nodes; its output is the first output of the last node."""
    graph = helper.make_graph(
        nodes, "main", inputs or [], [value(nodes[-1].output[0], result)], constants, sparse_initializer=sparse or []
    )
    imports = [("", opset), ("ai.onnx.ml", 5), ("local", 1)]
    return helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid(*each) for each in imports],
        ir_version=10 if opset > 9 else 8,
        functions=functions or [],
    )


def one(op: str, constants: list[TensorProto], opset: int = 21, domain: str = "", **attributes: Any) -> onnx.ModelProto:
    """One node whose inputs are constants, and a Size node that counts its output's elements."""
    names = [tensor.name for tensor in constants]
    nodes = [node(op, names, ["y"], domain=domain, **attributes), node("Size", ["y"], ["size"])]
    return model(nodes, constants, opset=opset, result=INT64)


def loop(trips: int, body: list[onnx.NodeProto], carried: onnx.ValueInfoProto, made: onnx.ValueInfoProto) -> Any:
    graph = helper.make_graph(
        [*body, node("Identity", ["go"], ["on"])],
        "body",
        [value("trip", INT64, []), value("go", BOOL, []), carried],
        [value("on", BOOL, []), made],
    )
    return node("Loop", ["trips", "", "start"], ["end"], body=graph), scalar("trips", trips)


def doubled_texts() -> onnx.ModelProto:
    body = [node("StringConcat", ["text", "text"], ["twice"])]
    looped, trips = loop(36, body, value("text", STRING, [1]), value("twice", STRING, [1]))
    return model([looped, node("Size", ["end"], ["size"])], [trips, texts("start", b"x" * 16)], result=INT64)


def grown_sequence(trips: int) -> onnx.ModelProto:
    sequence = helper.make_tensor_sequence_value_info
    body = [node("SequenceInsert", ["list", "item"], ["longer"])]
    looped, limit = loop(trips, body, sequence("list", FLOAT, None), sequence("longer", FLOAT, None))
    nodes = [node("SequenceEmpty", [], ["start"]), looped, node("SequenceLength", ["end"], ["size"])]
    return model(nodes, [limit, floats("item", 1)], result=INT64)


def stacked_rows() -> onnx.ModelProto:
    graph = helper.make_graph(
        [node("Identity", ["go"], ["on"]), node("Identity", ["row"], ["kept"])],
        "body",
        [value("trip", INT64, []), value("go", BOOL, [])],
        [value("on", BOOL, []), value("kept", FLOAT, [40_000])],
    )
    looped = node("Loop", ["trips", ""], ["rows"], body=graph)
    return model(
        [looped, node("Size", ["rows"], ["size"])], [scalar("trips", 20_000), floats("row", 40_000)], result=INT64
    )


def nested_loops() -> onnx.ModelProto:
    inner = helper.make_graph(
        [node("Identity", ["go1"], ["on1"]), node("Identity", ["v1"], ["w1"])],
        "inner",
        [value("trip1", INT64, []), value("go1", BOOL, []), value("v1", FLOAT, [1])],
        [value("on1", BOOL, []), value("w1", FLOAT, [1])],
    )
    body = [node("Loop", ["trips", "", "v"], ["w"], body=inner)]
    looped, trips = loop(900_000, body, value("v", FLOAT, [1]), value("w", FLOAT, [1]))
    return model([looped], [trips, floats("start", 1)])


def doubled_calls(depth: int) -> onnx.ModelProto:
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    bodies = [[node("Neg", ["x"], ["y"])]]
    for k in range(1, depth):
        callee = f"f{k - 1}"
        bodies.append([node(callee, ["x"], ["m"], domain="local"), node(callee, ["m"], ["y"], domain="local")])
    functions = [helper.make_function("local", f"f{k}", ["x"], ["y"], body, imports) for k, body in enumerate(bodies)]
    call = node(f"f{depth - 1}", ["x"], ["y"], domain="local")
    return model([call], [], [value("x", FLOAT, [1])], functions=functions)


def many_tensors() -> onnx.ModelProto:
    """A model whose tensors each pass every limit, but need 820 MiB together."""
    parts = [node("ConstantOfShape", ["shape"], ["part"])]
    # Lengths differ, since common subexpression elimination merges equal nodes.
    parts += [node("SequenceConstruct", ["part"] * (16 + k), [f"parts{k}"]) for k in range(10)]
    made = [node("ConcatFromSequence", [f"parts{k}"], [f"t{k}"], axis=0) for k in range(10)]
    gathered = node("SequenceConstruct", [f"t{k}" for k in range(10)], ["all"])
    return model(
        [*parts, *made, gathered, node("SequenceLength", ["all"], ["y"])], [ints("shape", 1 << 20)], result=INT64
    )


def bitmap(width: int, height: int, compression: int, data: bytes) -> onnx.ModelProto:
    head = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, compression, 0, 0, 0, 0, 0)
    file = b"BM" + struct.pack("<IHHI", 54 + len(data), 0, 0, 54) + head + data
    return one("ImageDecoder", [octets("x", file)])


def jpeg2000(size: int, tile: int, parts: int) -> onnx.ModelProto:
    sizes = struct.pack(">8IH", size, size, 0, 0, tile, tile, 0, 0, parts) + b"\x07\x01\x01" * parts
    marker = b"\xff\x51" + struct.pack(">HH", 4 + len(sizes), 0) + sizes
    return one("ImageDecoder", [octets("x", b"\xff\x4f" + marker)])


def pixmap(width: int, height: int) -> onnx.ModelProto:
    return one("ImageDecoder", [octets("x", f"P6 {width} {height} 255\n".encode() + b"abc")])


def trees() -> onnx.ModelProto:
    return one(
        "TreeEnsemble",
        [floats("x", 1, 1)],
        domain="ai.onnx.ml",
        n_targets=1 << 30,
        nodes_featureids=[0],
        nodes_splits=floats("", 1),
        nodes_modes=numpy_helper.from_array(np.zeros(1, np.uint8), ""),
        nodes_truenodeids=[0],
        nodes_falsenodeids=[0],
        nodes_trueleafs=[1],
        nodes_falseleafs=[1],
        leaf_targetids=[0],
        leaf_weights=floats("", 1),
        tree_roots=[0],
    )


def large_sparse() -> onnx.ModelProto:
    index = numpy_helper.from_array(np.zeros(1, np.int64), "at")
    tensor = helper.make_sparse_tensor(floats("w", 1), index, [1 << 29])
    return model([node("Size", ["w"], ["size"])], [], result=INT64, sparse=[tensor])


def large_products() -> onnx.ModelProto:
    nodes = [node("MatMul", ["x", "a"], ["p"]), node("MatMul", ["p", "b"], ["q"]), node("ReduceMax", ["q"], ["y"])]
    return model(nodes, [floats("a", 1, 4096), floats("b", 4096, 1)], [value("x", FLOAT, [1 << 16, 1])])


def windows(op: str, constant: bool) -> onnx.ModelProto:
    """Pooling with a kernel of 10^12 elements, most of them in the padding."""
    pool = node(op, ["x"], ["p"], kernel_shape=[10**12], pads=[5 * 10**11, 5 * 10**11])
    nodes = [pool, node("Add", ["p", "z"], ["y"])]
    image = floats("x", 1, 1, 16)
    port = value("x", FLOAT, [1, 1, 16])
    return model(nodes, [image] if constant else [], [value("z", FLOAT, [1])] + ([] if constant else [port]))


def products(constant: bool) -> onnx.ModelProto:
    """The sum of all products of two vectors: 10^13 of them."""
    size = 3_000_000
    einsum = node("Einsum", ["x", "x"], ["p"], equation="i,j->")
    nodes = [einsum, node("Add", ["p", "z"], ["y"])]
    port = value("x", FLOAT, [size])
    return model(
        nodes, [floats("x", size)] if constant else [], [value("z", FLOAT, [1])] + ([] if constant else [port])
    )


# Models with the limits that may end them.
MEMORY: dict[str, tuple[Callable[[], onnx.ModelProto], set[str]]] = {
    "col2im_stride": (
        lambda: one("Col2Im", [floats("x", 1, 1, 1), ints("im", 1, 1), ints("bl", 1, 1)], strides=[1, 1 << 33]),
        {"memory", "bytes"},
    ),
    "split_that_wraps": (
        lambda: one("SplitToSequence", [floats("x", 4), ints("s", (1 << 63) - 1, (1 << 63) - 1, 6)]),
        {"64 bits"},
    ),
    "expanded_texts": (lambda: one("Expand", [texts("x", b"a"), ints("s", 1 << 29)]), {"memory", "bytes"}),
    "expanded_long_texts": (lambda: one("Expand", [texts("x", b"a" * (1 << 20)), ints("s", 1 << 16)]), {"memory"}),
    "doubled_texts": (doubled_texts, {"string_bytes", "memory"}),
    "upsampled_nothing": (
        lambda: one(
            "Upsample",
            [floats("x", 0, 1), numpy_helper.from_array(np.array([1, 1e10], np.float32), "s")],
            opset=9,
            mode="linear",
        ),
        {"memory", "bytes"},
    ),
    "roi_align_ratio": (
        lambda: one(
            "RoiAlign",
            [floats("x", 1, 1, 2, 2), floats("r", 1, 4), ints("b", 0)],
            sampling_ratio=(1 << 31) - 1,
        ),
        {"memory", "bytes", "work"},
    ),
    "bitmap_of_runs": (lambda: bitmap(30_000, 30_000, 1, b"\x00\x01"), {"memory", "elements"}),
    "bitmap_without_rows": (lambda: bitmap(15_000, 15_000, 0, bytes(100)), set()),
    "pixmap_without_rows": (lambda: pixmap(15_000, 15_000), set()),
    "jpeg2000_of_many_parts": (lambda: jpeg2000(2000, 2000, 100), {"memory", "elements"}),
    "jpeg2000_of_many_tiles": (lambda: jpeg2000(255, 1, 4000), {"memory", "elements"}),
    "sparse": (large_sparse, {"memory"}),
    "tree_targets": (trees, {"memory", "bytes"}),
    "dft_of_nothing": (
        lambda: one("DFT", [floats("x", 0, 1, 1), scalar("n", 1 << 33)], opset=17, axis=1),
        {"memory", "bytes", "elements"},
    ),
    "range": (lambda: one("Range", [scalar("a", 0), scalar("b", 1 << 28), scalar("d", 1)]), {"memory"}),
    "many_tensors": (many_tensors, {"memory"}),
    "long_sequence": (lambda: grown_sequence(900_000), {"memory", "work", "deadline"}),
    "stacked_rows": (stacked_rows, {"memory"}),
    "large_products": (large_products, {"memory"}),
    "one_hot_of_nothing": (
        lambda: one("OneHot", [helper.make_tensor("i", INT64, [1], [0]), scalar("d", 1 << 29), floats("v", 2)]),
        {"memory"},
    ),
    "unique_of_nothing": (
        lambda: one("Unique", [TensorProto(name="x", dims=[1 << 40, 0], data_type=FLOAT)], axis=0),
        {"memory", "elements"},
    ),
}

TIME: dict[str, tuple[Callable[[], onnx.ModelProto], set[str]]] = {
    "max_pool": (lambda: windows("MaxPool", constant=False), {"work", "deadline"}),
    "average_pool": (lambda: windows("AveragePool", constant=False), {"work", "deadline"}),
    "max_pool_of_a_constant": (lambda: windows("MaxPool", constant=True), {"work", "deadline"}),
    "nested_loops": (nested_loops, {"work", "deadline"}),
    "sequence_that_is_copied": (lambda: grown_sequence(200_000), {"work", "deadline", "memory"}),
    "doubled_calls": (lambda: doubled_calls(28), {"work", "deadline", "nodes", "memory"}),
}
