"""Graphs that a literal case cannot express, written as case folders for `run_cases` and for make coverage.

Some are refused, but by no rule of an entry: `says` is part of the error message. Others need more than one node and
run: `says` is "".
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import onnx
from onnx import TensorProto, helper


@dataclass(frozen=True)
class GraphCase:
    text: str
    says: str
    opset: int = 21


BODY = "body = b ({0}) => ({1}) {{ {2} }}"
ONE = (
    "<then_branch = t () => (float z) { z = Constant <value_float = 1.0> () }, else_branch = e () => (float z) { z "
    "= Constant <value_float = 2.0> () }>"
)
# The output's rank is unknown until the model runs. A random draw is always below 2, so one branch is certain.
EITHER = (
    "float t = {2.0}> { r = RandomUniform <shape = [1]> () c = Less(r, t) x = If (c) <then_branch = t () => "
    "(int64[2] z) { z = Constant <value_ints = [1, 2]> () }, else_branch = e () => (int64 z) { z = Constant "
    "<value_int = 1> () }>"
)
LOOP = "int64 i, bool k"
FLOATS = "float[2] a = {1.0, 2.0}"


def loop(inputs: str, outputs: str, nodes: str, of: str = "y = Loop (m, c, a)", m: str = "int64 m = {1}") -> str:
    body = BODY.format(inputs, outputs, nodes)
    return f"g () => (float[N] y) <{m}, bool c = {{1}}, {FLOATS}> {{ {of} <{body}> }}"


def scan(attributes: str, inputs: str, outputs: str, nodes: str, of: str = "y = Scan (s, a)", more: str = "") -> str:
    body = BODY.format(inputs, outputs, nodes)
    held = f"float s = {{0.0}}, {FLOATS}{more}"
    return f"g () => (y) <{held}> {{ {of} <{attributes}, {body}> }}"


STEP = ("float t, float u", "float v, float w", "v = Add(t, u) w = Identity(v)")
BATCHED = "float[2, 1] s = {0.0, 0.0}, float[2, 3, 1] a = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}"
STEP_OF_ONE = ("float[1] t, float[1] u", "float[1] v, float[1] w", "v = Add(t, u) w = Identity(v)")


def batched(lens: str, held: str = BATCHED) -> str:
    body = BODY.format(*STEP_OF_ONE)
    return f"g () => (y, z) <{lens}, {held}> {{ y, z = Scan (n, s, a) <num_scan_inputs = 1, {body}> }}"


CASES = {
    "if_of_two_conditions": GraphCase(
        f"g () => (float y) <bool[2] c = {{1, 1}}> {{ y = If (c) {ONE} }}", "but one element is wanted"
    ),
    "if_with_too_few_outputs": GraphCase(
        f"g () => (float y, float w) <bool c = {{1}}> {{ y, w = If (c) {ONE} }}", "outputs, but the node names 2"
    ),
    "loop_of_two_limits": GraphCase(
        loop(LOOP + ", float[2] x", "bool d, float[2] w", "d = Identity(k) w = Add(x, x)", m="int64[2] m = {1, 1}"),
        "M is a tensor(int64) of shape [2]",
    ),
    "loop_with_another_condition": GraphCase(
        loop(LOOP + ", float[2] x", "d, float[2] w", "d = Identity(i) w = Add(x, x)"),
        "the condition that the graph gives is a tensor(int64)",
    ),
    "loop_with_an_input_too_few": GraphCase(
        loop(LOOP, "bool d, float[2] w", "d = Identity(k) w = Identity(a)"), "1 carried values make it 3"
    ),
    "loop_with_an_output_too_few": GraphCase(
        loop(LOOP + ", float[2] x", "bool d", "d = Identity(k)"), "but 2 are wanted"
    ),
    "loop_with_fewer_than_named": GraphCase(
        loop(
            LOOP + ", float[2] x", "bool d, float[2] w", "d = Identity(k) w = Identity(x)", of="y, z = Loop (m, c, a)"
        ),
        "but 3 are wanted",
    ),
    "scan_of_nothing": GraphCase(scan("num_scan_inputs = 0", *STEP), "num_scan_inputs is 0"),
    "scan_of_too_many": GraphCase(scan("num_scan_inputs = 3", *STEP), "num_scan_inputs is 3"),
    "scan_with_an_input_too_few": GraphCase(
        scan("num_scan_inputs = 1", "float t", "float v", "v = Identity(t)"), "1 states and 1 scanned inputs make it 2"
    ),
    "scan_without_its_state": GraphCase(
        scan("num_scan_inputs = 1", "float t, float u, float x", "float v", "v = Add(t, u)", of="y = Scan (s, s, a)"),
        "but 2 states are carried",
    ),
    "scan_of_two_lengths": GraphCase(
        scan(
            "num_scan_inputs = 2",
            "float t, float u, float x",
            "float v",
            "v = Add(t, u)",
            of="y = Scan (s, a, b)",
            more=", float[3] b = {1.0, 2.0, 3.0}",
        ),
        "the scanned inputs have different lengths: 2 and 3",
    ),
    "scan_with_axes_for_two": GraphCase(
        scan("num_scan_inputs = 1, scan_input_axes = [0, 0]", *STEP), "scan_input_axes has 2 items"
    ),
    "scan_in_no_direction": GraphCase(
        scan("num_scan_inputs = 1, scan_input_directions = [2]", *STEP), "but 0 (forward) or 1 (backward) is wanted"
    ),
    "scan_along_no_axis": GraphCase(
        scan("num_scan_inputs = 1, scan_input_axes = [1]", *STEP), "axis 1 is scanned of an input of shape [2]"
    ),
    "scan_along_no_axis_from_behind": GraphCase(
        scan("num_scan_inputs = 1, scan_input_axes = [-2]", *STEP), "axis -2 is scanned"
    ),
    "scan_8_with_one_length": GraphCase(
        batched("int64[1] n = {1}"), "sequence_lens has the shape [1], but [2] is wanted", 8
    ),
    "scan_8_longer_than_it_is": GraphCase(
        batched("int64[2] n = {1, 4}"), "sequence_lens holds 4, but the sequences have 3 steps", 8
    ),
    "scan_8_shorter_than_nothing": GraphCase(batched("int64[2] n = {1, -1}"), "sequence_lens holds -1", 8),
    "scan_8_of_two_batches": GraphCase(
        batched("int64[2] n = {1, 1}", BATCHED.replace("[2, 1] s = {0.0, 0.0}", "[3, 1] s = {0.0, 0.0, 0.0}")),
        "the first dimension is the batch that all inputs share",
        8,
    ),
    "scan_8_without_a_batch": GraphCase(
        batched("int64[2] n = {1, 1}", BATCHED.replace("[2, 1] s = {0.0, 0.0}", " s = {0.0}")),
        "the first dimension is the batch that all inputs share",
        8,
    ),
    "map_to_sequences": GraphCase(
        f"g () => (y) <{FLOATS}> {{ q = SequenceConstruct(a) y = SequenceMap (q) <body = b (float[2] x) => (z) {{ "
        f"z = SequenceConstruct(x) }}> }}",
        "output 0 is a seq(tensor(float)) at place 0",
    ),
    "map_of_nothing_to_no_type": GraphCase(
        "g () => (y) { q = SequenceEmpty <dtype = 1> () y = SequenceMap (q) <body = b (float x) => (z) { z = "
        "Identity(x) }> }",
        "the graph does not say of which type its output 'z' is",
    ),
    "reversed_by_less_than_nothing": GraphCase(
        "g () => (y) <float[2, 1] a = {1.0, 2.0}, int64[1] n = {-1}> { y = ReverseSequence (a, n) }",
        "element [-1,0] is read of a tensor of shape [2,1]",
    ),
    "labels_of_truths": GraphCase(
        "g () => (y) <int64[1] a = {1}> { y = ai.onnx.ml.LabelEncoder <keys_tensor = bool[1] {1}, values_int64s = "
        "[1]> (a) }",
        "keys_tensor' holds neither numbers nor texts",
    ),
    "labels_of_any_rank": GraphCase(
        f"g () => (y) <{EITHER} y = ai.onnx.ml.LabelEncoder <keys_int64s = [1], values_int64s = [2]> (x) }}", ""
    ),
    "categories_of_any_rank": GraphCase(
        f'g () => (y) <{EITHER} y = ai.onnx.ml.CategoryMapper <cats_int64s = [1], cats_strings = ["a"]> (x) }}', ""
    ),
    "split_of_any_rank": GraphCase(
        f"g () => (y) <{EITHER} q = SplitToSequence(x) y = ConcatFromSequence <axis = 0> (q) }}", ""
    ),
    "split_and_joined": GraphCase(
        f"g () => (y) <{FLOATS}, int64[2] s = {{1, 1}}> {{ q = SplitToSequence(a, s) y = ConcatFromSequence <axis "
        f"= 0> (q) }}",
        "",
    ),
    "split_and_stacked": GraphCase(
        f"g () => (y) <{FLOATS}> {{ q = SplitToSequence(a) y = ConcatFromSequence <axis = 0, new_axis = 1> (q) }}", ""
    ),
    "split_into_too_many": GraphCase(
        "g () => (y) <float[1000000000000, 0] a = {}> { q = SplitToSequence(a) y = SequenceLength(q) }",
        "parts passes the limit 'loop_iterations'",
    ),
    "behind_a_broken_node": GraphCase(
        f"g () => (y, l, o, d) <{FLOATS}, float[3] b = {{1.0, 2.0, 3.0}}> {{ x = MatMul(a, b) q = "
        f"SequenceConstruct(x) i = SequenceInsert(q, x) y = ConcatFromSequence <axis = 0> (i) s = "
        f"SplitToSequence(x) l = SequenceLength(s) o = Optional(x) d = RandomNormalLike(x) }}",
        "the rows of",
    ),
    "draw_of_texts": GraphCase(
        "g () => (y) { y = RandomUniform <shape = [2], dtype = 8> () }", "dtype says string, but numbers are drawn"
    ),
    "dropout_of_more_than_all": GraphCase(
        f"g () => (y) <{FLOATS}, float r = {{1.5}}, bool t = {{1}}> {{ y = Dropout (a, r, t) }}", "ratio is 1.5"
    ),
    "dropout_of_less_than_none": GraphCase(
        f"g () => (y) <{FLOATS}, float r = {{-0.5}}, bool t = {{1}}> {{ y = Dropout (a, r, t) }}", "ratio is -0.5"
    ),
    "constant_of_two": GraphCase(
        "g () => (y) { y = Constant <value_float = 1.0, value_int = 2> () }",
        "one attribute holds the value, but the node has 2",
    ),
    "constant_of_none": GraphCase(
        "g () => (y) { y = Constant () }", "one attribute holds the value, but the node has 0"
    ),
}


def model_of(case: GraphCase) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": {case.opset}, "ai.onnx.ml": 4]> {case.text}')


def sparse_constant() -> onnx.ModelProto:
    """A Constant with a sparse tensor, which the ONNX text format cannot express."""
    values = helper.make_tensor("v", TensorProto.FLOAT, [1], [5.0])
    places = helper.make_tensor("i", TensorProto.INT64, [1], [2])
    node = helper.make_node("Constant", [], ["y"], sparse_value=helper.make_sparse_tensor(values, places, [3]))
    graph = helper.make_graph([node], "g", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=8)


def of_no_text(op: str, **attributes: str) -> onnx.ModelProto:
    """A string input with a byte that is invalid in UTF-8; test_invalid_texts.py checks the error message."""
    held = TensorProto(name="x", data_type=TensorProto.STRING, dims=[1], string_data=[b"a\xff"])
    outputs = ["y", "z"] if op == "StringSplit" else ["y"]
    node = helper.make_node(op, ["x"], outputs, **attributes)
    graph = helper.make_graph([node], "g", [], [onnx.ValueInfoProto(name=name) for name in outputs], [held])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def of_a_wide_map() -> tuple[onnx.ModelProto, bytes]:
    """A CastMap model with its input: a map whose value holds two numbers, which a literal case cannot express."""
    kind = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    node = helper.make_node("CastMap", ["x"], ["y"], domain="ai.onnx.ml")
    graph = helper.make_graph([node], "g", [helper.make_value_info("x", kind)], [onnx.ValueInfoProto(name="y")])
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 1)]
    value = helper.make_tensor("", TensorProto.FLOAT, [2], [1.0, 2.0])
    fed = helper.make_map("x", TensorProto.INT64, [1], helper.make_sequence("", onnx.SequenceProto.TENSOR, [value]))
    return helper.make_model(graph, opset_imports=opsets, ir_version=8), fed.SerializeToString()


def models() -> dict[str, onnx.ModelProto]:
    made = {name: model_of(case) for name, case in CASES.items()} | {"constant_sparse": sparse_constant()}
    for op, attributes in {"StringSplit": {}, "StringNormalizer": {}, "RegexFullMatch": {"pattern": "a"}}.items():
        made[f"{op}_of_no_text"] = of_no_text(op, **attributes)
    return made


def write(folder: Path) -> None:
    """Writes every model as a case folder; only map_of_two_numbers has an input file."""
    wide, fed = of_a_wide_map()
    for name, model in (models() | {"map_of_two_numbers": wide}).items():
        (folder / name / "test_data_set_0").mkdir(parents=True, exist_ok=True)
        onnx.save(model, folder / name / "model.onnx")
    (folder / "map_of_two_numbers" / "test_data_set_0" / "input_0.pb").write_bytes(fed)
