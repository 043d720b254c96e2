"""Emission of literal cases as folders: the versions that a case runs at, its model and data, and the refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from codegen.emit_cases import Case, emit, load_releases
from codegen.entry import SpecError
from codegen.load import load_spec

Make = Callable[[str], dict[str, Case]]

HEAD = "op: Toy\nform: elementwise\ndoc: A toy.\nversions:\n"
FIRST = """\
  - since: 3
    inputs: {x: {type: T}, low: {type: T, optional: true}, high: {type: T, optional: true}}
    outputs: {y: {type: T, shape: shape(x)}}
    attributes: {times: {type: int, default: 1}, name: {type: string}}
    types: {T: [floats, int64, int8]}
    require: {C1: {that: rank(x) == 1, else: one dimension}}
    semantics: |
      y[i] = x[i]
"""


def arrays(values: list[bytes]) -> list[np.ndarray]:
    return [numpy_helper.to_array(onnx.TensorProto.FromString(value)) for value in values]


def one(make: Make, case: str) -> Case:
    return make(f"{HEAD}{FIRST}    cases: {{a: {case}}}\n")["3/a"]


def test_a_case_is_one_node_with_its_data(cases_of: Make) -> None:
    case = one(cases_of, "{x: [1.0, 2.0], high: 3.0, times: 2, y: [1.0, 2.0]}")
    (node,) = case.model.graph.node
    assert (node.op_type, list(node.input), list(node.output)) == ("Toy", ["x", "", "high"], ["y"])
    assert [(a.name, a.i) for a in node.attribute] == [("times", 2)]
    assert [a.tolist() for a in arrays(case.inputs)] == [[1.0, 2.0], 3.0]
    assert arrays(case.outputs)[0].dtype == np.float32
    assert case.folder == "ai.onnx/Toy-3/a"


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        ("[1.0]", np.float32, (1,)),
        ("[[1, 2]]", np.int64, (1, 2)),
        ("{type: int8, shape: [0, 3]}", np.int8, (0, 3)),
        ("{type: int8, shape: [], data: [-128]}", np.int8, ()),
        ("{type: double, data: [0.1]}", np.float64, (1,)),
        ("[.inf, .nan]", np.float32, (2,)),
    ],
)
def test_a_literal_has_a_type_and_a_shape(cases_of: Make, value: str, dtype: type, shape: tuple[int, ...]) -> None:
    case = one(cases_of, f"{{x: {value}, y: {value}}}")
    for array in arrays(case.inputs + case.outputs):
        assert array.dtype == dtype and array.shape == shape


def test_an_output_takes_the_type_that_an_input_bound(cases_of: Make) -> None:
    case = one(cases_of, "{x: {type: int8, data: [1]}, low: 0, y: [1]}")
    assert [a.dtype for a in arrays(case.inputs + case.outputs)] == [np.int8] * 3


def test_a_case_runs_at_later_versions_until_another_stands_in_its_place(cases_of: Make) -> None:
    cases = cases_of(
        f"""{HEAD}  - {{since: 20, inherits: 13}}
  - {{since: 13, inherits: 7, cases: {{a: null, b: {{x: [2.0], y: [2.0]}}}}}}
  - {{since: 7, inherits: 3, attributes: {{times: null}}}}
{FIRST}    cases:
      a: {{x: [1.0], y: [1.0]}}
      b: {{x: [1.0], y: [1.0]}}
      twice: {{x: [1.0], times: 2, y: [1.0]}}
"""
    )
    assert sorted(cases) == sorted(["3/a", "3/b", "3/twice", "7/a", "7/b", "13/b", "20/b"])
    assert arrays(cases["20/b"].inputs)[0].tolist() == [2.0]
    assert [cases[key].opset for key in ("3/b", "7/b", "13/b", "20/b")] == [6, 12, 19, 28]
    assert cases["7/b"].ir == 7, "opset 12 came with version 7 of the format"


def test_variadic_inputs_are_a_list_of_tensors(cases_of: Make) -> None:
    cases = cases_of(
        f"""{HEAD}  - since: 1
    inputs: {{xs: {{type: T, variadic: true}}}}
    outputs: {{y: {{type: T}}}}
    types: {{T: [floats]}}
    semantics: |
      y[i] = sum x in xs: x[i]
    cases: {{two: {{xs: [[1.0], [2.0]], y: [3.0]}}}}
"""
    )
    assert list(cases["1/two"].model.graph.node[0].input) == ["xs_0", "xs_1"]
    assert [a.tolist() for a in arrays(cases["1/two"].inputs)] == [[1.0], [2.0]]


CONTAINERS = """\
  - since: 16
    structural: toy.part
    inputs: {s: {type: S}}
    outputs: {o: {type: O}}
    attributes: {inner: {type: type}}
    types: {S: [seq(floats)], O: [optional(seq(floats)), optional(floats)]}
    require: {C1: {that: length > 0, else: it is empty}}
"""


def test_containers_hold_each_other(cases_of: Make) -> None:
    cases = cases_of(
        f"""{HEAD}{CONTAINERS}    cases:
      full: {{s: {{type: seq(float), data: [[1.0, 2.0], 3.0]}}, inner: seq(float), \
o: {{type: optional(seq(float)), data: [[4.0]]}}}}
      empty: {{s: {{type: seq(float), data: []}}, o: {{type: optional(float), data: null}}}}
      refused: {{s: {{type: seq(float), data: []}}, raises: C1}}
"""
    )
    full = cases["16/full"]
    assert full.version.template == "toy" and full.version.entry_point == "toy_part"
    given = numpy_helper.to_list(onnx.SequenceProto.FromString(full.inputs[0]))
    assert [a.tolist() for a in given] == [[1.0, 2.0], 3.0]
    assert [a.tolist() for a in numpy_helper.to_optional(onnx.OptionalProto.FromString(full.outputs[0]))] == [[4.0]]
    assert full.model.graph.input[0].type.sequence_type.elem_type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    assert full.model.graph.node[0].attribute[0].tp == full.model.graph.input[0].type
    held = onnx.OptionalProto.FromString(cases["16/empty"].outputs[0])
    assert not held.HasField("tensor_value") and not held.HasField("sequence_value")
    assert cases["16/refused"].model.graph.output[0].type.WhichOneof("value") == "optional_type"


def test_a_negative_case_has_no_outputs_and_stands_apart(cases_of: Make, tmp_path: Path) -> None:
    case = one(cases_of, "{x: [[1.0]], raises: C1}")
    assert case.raises == "C1" and case.outputs == []
    output = case.model.graph.output[0].type.tensor_type
    assert output.elem_type == onnx.TensorProto.FLOAT and not output.HasField("shape")
    emit(load_spec(tmp_path / "spec"), load_releases(tmp_path / "spec"), tmp_path / "out")
    assert (tmp_path / "out/negative/ai.onnx/Toy-3/a/test_data_set_0/input_0.pb").is_file()
    assert not (tmp_path / "out/positive").exists()


def test_the_same_entry_gives_the_same_bytes(cases_of: Make, tmp_path: Path) -> None:
    one(cases_of, "{x: [1.0], times: 2, y: [1.0]}")
    found = []
    for out in ("left", "right"):
        emit(load_spec(tmp_path / "spec"), load_releases(tmp_path / "spec"), tmp_path / out)
        files = sorted(path for path in (tmp_path / out).rglob("*") if path.is_file())
        found.append([(path.relative_to(tmp_path / out), path.read_bytes()) for path in files])
    assert found[0] == found[1] and len(found[0]) == 4


@pytest.mark.parametrize(
    ("case", "says"),
    [
        ("{x: [1.0], z: 1, y: [1.0]}", "Toy-3 has no 'z'"),
        ("{x: [true], y: [1.0]}", "x: True may be"),
        ("{x: {type: int32, data: [1]}, y: [1.0]}", "x is int32, and may be"),
        ("{x: {type: int8, data: [200]}, y: [1]}", "200"),
        ("{x: [1.0, [2.0]], y: [1.0]}", "ragged"),
        ("{x: {type: float, shape: [3], data: [1.0]}, y: [1.0]}", "1 elements do not fill the shape [3]"),
        ("{x: [], y: []}", "an empty value says its type and shape"),
        ("{x: [1.0], times: 1.5, y: [1.0]}", "1.5 is no integer"),
        ("{x: [1.0], raises: C9}", "Toy-3 has no rule C9"),
        ("{x: [1.0]}", "the case has no output"),
    ],
)
def test_a_wrong_case_is_refused_with_its_place(cases_of: Make, case: str, says: str) -> None:
    with pytest.raises(SpecError) as refused:
        one(cases_of, case)
    assert "spec/ops/ai.onnx/Toy.yaml:5: case a: " in str(refused.value)
    assert says in str(refused.value)
