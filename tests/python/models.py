"""Small models for the tests of the package, most of them in the standard's text form."""

from __future__ import annotations

import onnx
from onnx import helper, parser


def parsed(graph: str, ir_version: int = 13, opset: int = 26) -> bytes:
    return parser.parse_model(f'<ir_version: {ir_version}, opset_import: ["" : {opset}]> {graph}').SerializeToString()


# Types that Cast supports, but Identity does not yet.
NEW = (onnx.TensorProto.FLOAT6E2M3, onnx.TensorProto.FLOAT6E3M2)


def handed_on(kind: onnx.TypeProto, opset: int = 28) -> bytes:
    """A model whose output is its input."""
    x, y = helper.make_value_info("x", kind), helper.make_value_info("y", kind)
    node = helper.make_node("Identity", ["x"], ["y"])
    if kind.tensor_type.elem_type in NEW:
        node = helper.make_node("Cast", ["x"], ["y"], to=kind.tensor_type.elem_type)
    graph = helper.make_graph([node], "g", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=13).SerializeToString()


def tensor(code: int, shape: list[int | str | None] | None = None) -> onnx.TypeProto:
    return helper.make_tensor_type_proto(code, shape)


WEIGHTS = ", ".join(str((k * 37 % 101 - 50) / 64) for k in range(8 * 3 * 3 * 3))
NETWORK = parsed(
    f"""net (float[n,3,16,16] x) => (float[n,8,16,16] f, float[n,8] y)
    <float[8,3,3,3] w = {{{WEIGHTS}}}, float[8] b = {{0, 1, 2, 3, 4, 5, 6, 7}}, int64[2] axes = {{2, 3}}>
    {{
        c = Conv <pads = [1, 1, 1, 1]> (x, w, b)
        f = Relu(c)
        y = ReduceMean <keepdims = 0> (f, axes)
    }}"""
)
