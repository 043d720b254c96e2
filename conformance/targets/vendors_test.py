"""Tests the targets of released runtimes: kinds of faults, environments, and runs where a runtime is installed."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from conformance.targets.target import (
    InvalidInputError,
    InvalidModelError,
    OutOfMemoryError,
    TargetError,
    UnsupportedError,
)
from conformance.targets.vendors.models import bare_inputs, is_open, require_all, require_tensors, source
from conformance.targets.vendors.packed import pack, unpack
from conformance.targets.vendors.refusals import of_openvino, of_tract, of_tvm

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (ROOT / os.environ.get("TOUCHSTONE_BUILD", "build")) / "touchstone"
RUNTIMES = ("openvino", "tvm", "tract")


class TractError(Exception):
    """Stands for the runtime's own class, which is known by name."""


class InternalError(RuntimeError):
    pass


class OpNotImplemented(NotImplementedError):  # noqa: N818 - TVM's name
    pass


class OpAttributeInvalid(RuntimeError):  # noqa: N818 - TVM's name
    pass


OPENVINO = [
    (True, "-- No conversion rule found for operations: StringNormalizer-21", UnsupportedError),
    (True, "Exception from common.cpp:81:\nUnsupported data type COMPLEX64 expected: BOOL, BFLOAT16", UnsupportedError),
    (
        True,
        "While validating ONNX node '<Node(Add): y>': Check 'TRShape::broadcast_merge_into' failed",
        UnsupportedError,
    ),
    (True, "Exception from graph_cache.cpp:27:\nc node not found in graph cache", InvalidModelError),
    (True, "Please check if the model format is supported and model is correct.", InvalidModelError),
    (
        True,
        "Check 'ptr' failed at cpu_memory.cpp:257:\nFailed to allocate 40000000000 bytes of memory",
        OutOfMemoryError,
    ),
    (False, "Can't set the input tensor with index: 0, because the model input (shape=[2])", InvalidInputError),
    (False, "ParameterMismatch: Failed to set tensor for input with precision: i64", InvalidInputError),
    (False, "Check 'false' failed: Not Implemented", UnsupportedError),
    (False, "Check 'padding_above >= 0' failed at src/core/reference/pad.cpp:77", TargetError),
]
TRACT = [
    (True, 'Translating node #2 "y" Unimplemented(Foo) ToTypedTranslator', UnsupportedError),
    (True, "failed to decode Protobuf message: invalid wire type value: 7", InvalidModelError),
    (True, 'Could not resolve inputs at top-level: ["c"]', InvalidModelError),
    (False, "Clashing resolution for expression. 2=2 != 3.", InvalidInputError),
    (
        False,
        "Input at index 0 has incorrect dtype or shape (got 2,I64 1, 2, expected to match fact 2,F32)",
        InvalidInputError,
    ),
    (False, 'Evaluating #4 "Y" Scan\n\nCaused by:\n    1: Input at index 0 has incorrect dtype or shape', TargetError),
    (False, "Dropout in training mode with a non-zero ratio is not supported", UnsupportedError),
    (False, "Symbol <Sym0> points to an invalid (dead ?) SymbolScope.", TargetError),
]


@pytest.mark.parametrize(("loading", "text", "kind"), OPENVINO)
def test_faults_of_openvino(loading: bool, text: str, kind: type[TargetError]) -> None:
    assert type(of_openvino(RuntimeError(text), loading)) is kind


@pytest.mark.parametrize(("loading", "text", "kind"), TRACT)
def test_faults_of_tract(loading: bool, text: str, kind: type[TargetError]) -> None:
    assert type(of_tract(TractError(text), loading)) is kind
    assert type(of_tract(TypeError(text), loading)) is TargetError  # a fault of its binding


def raised(error: type[Exception], text: str) -> Exception:
    try:
        raise error(text)
    except error as caught:
        return caught


def accident() -> Exception:
    """An error that no statement raised: Python itself did."""
    try:
        return {}["num_heads"]
    except KeyError as caught:
        return caught


TVM = [
    (True, raised(OpNotImplemented, "The following operators are not supported: Foo"), UnsupportedError),
    (True, raised(ValueError, "Dynamic Split not yet supported"), UnsupportedError),
    (True, raised(AssertionError, "Only constant axes currently supported"), UnsupportedError),
    (True, raised(OpAttributeInvalid, "Value None in attribute 'mode' is not valid"), InvalidModelError),
    (True, raised(InternalError, "Check failed: dtype.bits % 8 == 0"), TargetError),
    (True, accident(), TargetError),
    (
        False,
        raised(ValueError, "ErrorContext(fn=main, loc=param[0], param=a) expect Tensor with ndim 1"),
        InvalidInputError,
    ),
    (False, raised(InternalError, "Invoking function main expects 2 arguments (a, b)"), InvalidInputError),
    (False, raised(InternalError, "std::bad_alloc"), OutOfMemoryError),
    (False, raised(ValueError, "shape mismatch in a kernel"), TargetError),
]


@pytest.mark.parametrize(("loading", "error", "kind"), TVM, ids=lambda each: str(each)[:40])
def test_faults_of_tvm(loading: bool, error: Exception, kind: type[TargetError]) -> None:
    assert type(of_tvm(error, loading)) is kind


@pytest.mark.parametrize("classify", [of_openvino, of_tract, of_tvm])
def test_memory_that_runs_out_is_no_fault(classify: Callable[..., TargetError]) -> None:
    assert type(classify(raised(MemoryError, ""), loading=True)) is OutOfMemoryError


def model(kind: int = TensorProto.FLOAT, shape: list | None = None, op: str = "Identity") -> onnx.ModelProto:
    infos = [helper.make_tensor_value_info(name, kind, shape) for name in "xy"]
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"])], "g", infos[:1], infos[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=13)


def test_what_is_asked_of_a_model() -> None:
    assert [is_open(model(shape=shape).graph.input[0]) for shape in (None, ["N"], [None, 2], [2], [], [0])] == [
        True, True, True, False, False, False,
    ]  # fmt: skip
    one = model()
    one.graph.initializer.append(numpy_helper.from_array(np.zeros(1, np.float32), "x"))
    assert bare_inputs(one.graph) == []
    require_tensors(model().graph.input, [TensorProto.FLOAT])
    with pytest.raises(UnsupportedError, match="'x' is of type string"):
        require_tensors(model(TensorProto.STRING).graph.input, [TensorProto.FLOAT])
    sequence = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)
    with pytest.raises(UnsupportedError, match="'s' is no tensor but of kind sequence"):
        require_tensors([sequence], [TensorProto.FLOAT])
    require_all(["x"], {"x": 1, "z": 2})
    with pytest.raises(InvalidInputError, match="nothing feeds the input 'x'"):
        require_all(["x"], {})


def test_a_model_is_its_bytes_unless_its_data_is_elsewhere(tmp_path: Path) -> None:
    data = model().SerializeToString()
    assert source(data, onnx.ModelProto.FromString(data), str(tmp_path / "nowhere")) == data
    weights = numpy_helper.from_array(np.arange(4, dtype=np.float32), "w")
    node = helper.make_node("Constant", [], ["y"], value=weights)
    inner = helper.make_graph([node], "inner", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])])
    branches = helper.make_node("If", ["c"], ["z"], then_branch=inner, else_branch=inner)
    infos = [helper.make_tensor_value_info("c", TensorProto.BOOL, []), helper.make_tensor_value_info("z", 1, [4])]
    file = tmp_path / "model.onnx"
    onnx.save(
        helper.make_model(helper.make_graph([branches], "g", infos[:1], infos[1:])), file,
        save_as_external_data=True, convert_attribute=True, size_threshold=0,
    )  # fmt: skip
    data = file.read_bytes()
    assert source(data, onnx.ModelProto.FromString(data), str(file)) == file
    other = onnx.ModelProto.FromString(data)
    other.ir_version -= 1  # as a stamped model: its file is another
    whole = source(other.SerializeToString(), other, str(file))
    assert isinstance(whole, bytes)
    kept = onnx.ModelProto.FromString(whole).graph.node[0].attribute[0].g.node[0].attribute[0].t
    assert np.array_equal(numpy_helper.to_array(kept), np.arange(4, dtype=np.float32))


@pytest.mark.parametrize("code", [TensorProto.INT4, TensorProto.UINT4, TensorProto.INT2, TensorProto.FLOAT4E2M1])
def test_packed_elements_are_those_of_the_standard(code: int) -> None:
    array = np.array([1, 0, -1, 1, 1], np.float32) if code != TensorProto.UINT4 else np.array([1, 0, 15, 9, 3])
    small = array.astype(helper.tensor_dtype_to_np_dtype(code))
    raw = pack(small, code)
    assert raw.tobytes() == numpy_helper.from_array(small).raw_data
    assert unpack(raw, code, [5]).tobytes() == small.tobytes()


def python_of(runtime: str) -> Path:
    return ROOT / f".venv-{runtime}" / "bin" / "python"


def needs(runtime: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not python_of(runtime).exists(), reason=f"{runtime} is not installed")


each_runtime = pytest.mark.parametrize("runtime", [pytest.param(name, marks=needs(name)) for name in RUNTIMES])


def write_case(folder: Path, made: onnx.ModelProto, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(made, folder / "model.onnx")
    for kind, values in (("input", inputs), ("output", outputs)):
        for k, value in enumerate(values):
            (data / f"{kind}_{k}.pb").write_bytes(numpy_helper.from_array(value).SerializeToString())


def verdicts(suite: Path, target: str) -> dict[str, tuple[str, str]]:
    command = [COMMAND, "conform", "--target", target, "--suite", suite, "--jobs", "1", "--json"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, cwd=ROOT, check=False)
    assert done.stdout, done.stderr
    return {case["name"]: (case["verdict"], case["detail"]) for case in json.loads(done.stdout)["runs"][0]["cases"]}


@each_runtime
def test_a_runtime_takes_and_gives_what_it_has(runtime: str, tmp_path: Path) -> None:
    """Fixed, open and unknown shapes run. Faults of a model and of a feed have their kinds, types that lack a name."""
    value = np.array([[1, -2, 3]], np.float32)
    for name, shape in {"fixed": [1, 3], "open": ["N", "M"], "free": None}.items():
        write_case(tmp_path / name, model(shape=shape, op="Neg"), [value], [-value])
    half = np.array([1, 2], helper.tensor_dtype_to_np_dtype(TensorProto.BFLOAT16))
    write_case(tmp_path / "bfloat16", model(TensorProto.BFLOAT16, [2]), [half], [half])
    double = np.array([[True, False]])
    write_case(tmp_path / "bool", model(TensorProto.BOOL, [1, 2], "Not"), [double], [~double])
    number = np.array([2], np.int64)
    write_case(tmp_path / "int64", model(TensorProto.INT64, [1], "Abs"), [number], [number])
    write_case(tmp_path / "lacking", model(op="ImageDecoder"), [value], [value])
    complex_ = np.array([1j], np.complex64)
    write_case(tmp_path / "complex64", model(TensorProto.COMPLEX64, [1]), [complex_], [complex_])
    write_case(tmp_path / "other-shape", model(shape=[2, 3], op="Neg"), [value], [-value])
    found = verdicts(tmp_path, runtime)
    right = {name: found[name][0] for name in ("fixed", "open", "bool", "int64")}
    assert set(right.values()) == {"exact"}, found
    assert found["free"][0] == ("unsupported" if runtime == "openvino" else "exact"), found  # its plugin wants a rank
    assert found["bfloat16"][0] == ("unsupported" if runtime == "tract" else "exact"), found
    assert runtime != "tract" or "'x' is of type bfloat16" in found["bfloat16"][1]
    assert found["lacking"][0] == found["complex64"][0] == "unsupported", found
    assert "complex64" in found["complex64"][1].lower(), found
    assert found["other-shape"][0] == "rejected-valid", found  # the runtime says that the feed is wrong


@needs("openvino")
def test_openvino_takes_packed_types_and_inputs_that_it_renames(tmp_path: Path) -> None:
    for code in (TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT4E2M1):
        small = np.array([[1, 2, 3]], np.float32).astype(helper.tensor_dtype_to_np_dtype(code))
        write_case(tmp_path / TensorProto.DataType.Name(code), model(code, [1, 3]), [small], [small])
    value = np.array([1, 2], np.float32)
    write_case(tmp_path / "Dropout", model(shape=[2], op="Dropout"), [value], [value])
    found = verdicts(tmp_path, "openvino")
    assert {verdict for verdict, _ in found.values()} == {"exact"}, found


@needs("openvino")
def test_what_a_kernel_of_openvino_throws_is_not_lost(tmp_path: Path) -> None:
    small = np.array([[1, 2]], np.float32).astype(helper.tensor_dtype_to_np_dtype(TensorProto.FLOAT8E5M2))
    made = model(TensorProto.FLOAT8E5M2, ["N", "M"], "IsInf")
    made.graph.output[0].type.tensor_type.elem_type = TensorProto.BOOL
    write_case(tmp_path / "IsInf", made, [small], [np.array([[False, False]])])
    verdict, detail = verdicts(tmp_path, "openvino")["IsInf"]
    assert verdict == "unsupported" and "unsupported src_prc: f8e5m2" in detail, detail


@needs("openvino")
def test_outputs_that_openvino_lacks_are_not_given(tmp_path: Path) -> None:
    inputs = "double[2,2]{1,5,3,11}, double[2]~above, double[2]~logs, double[2]~cancel, *double[2]{3,1}"
    line = f"BatchNormalization-1({inputs}) consumed_inputs=[0,0,0,1,1] epsilon=0 -> xxxxx"
    (tmp_path / "lines.cases").write_text(line + "\n", encoding="utf-8")
    ((verdict, detail),) = verdicts(tmp_path / "lines.cases", "openvino").values()
    assert verdict == "unwritten" and "was not given" in detail, detail


@needs("tract")
def test_dimensions_of_tract_are_int64(tmp_path: Path) -> None:
    made = model(shape=[2, 3], op="Shape")
    made.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.INT64, [2]))
    write_case(tmp_path / "Shape", made, [np.zeros((2, 3), np.float32)], [np.array([2, 3], np.int64)])
    assert verdicts(tmp_path, "tract")["Shape"][0] == "exact"


def data_without_environments(folder: Path) -> dict[str, str]:
    """An installation's data: no environment lies there, and no interpreter is named."""
    (folder / "conformance").mkdir(parents=True)
    for part in ("suites", "targets"):
        (folder / "conformance" / part).symlink_to(ROOT / "conformance" / part)
    kept = {key: value for key, value in os.environ.items() if key != "TOUCHSTONE_PYTHON"}
    return kept | {"TOUCHSTONE_DATA": str(folder)}


def command(environment: dict[str, str], *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [COMMAND, *words], capture_output=True, text=True, timeout=120, env=environment, cwd=ROOT, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("runtime", ["onnxruntime", *RUNTIMES])
def test_a_missing_environment_is_refused_with_the_command_that_makes_it(runtime: str, tmp_path: Path) -> None:
    environment = data_without_environments(tmp_path / "share")
    write_case(tmp_path / "case", model(shape=[2]), [np.zeros(2, np.float32)], [np.zeros(2, np.float32)])
    status, said = command(environment, "conform", "--target", runtime, "--suite", str(tmp_path / "case"))
    assert status == 7, said
    assert f"the environment of '{runtime}' is not there" in said
    assert f"touchstone doctor --install {runtime} makes it" in said


def test_doctor_installs_by_the_setup_script_or_says_what_does(tmp_path: Path) -> None:
    folder = tmp_path / "share"
    environment = data_without_environments(folder)
    status, said = command(environment, "doctor", "--install", "tvm")
    assert status == 4 and f"pip install -r '{folder}/requirements-tvm.txt'" in said, said
    script = folder / "tools" / "setup.sh"
    script.parent.mkdir()
    script.write_text("echo setup of $1 in $PWD; exit 3\n", encoding="utf-8")
    status, said = command(environment, "doctor", "--install", "tvm")
    assert status == 7 and f"setup of tvm in {folder}" in said and "exit code 3" in said, said
    script.write_text("mkdir -p .venv-$1/bin && touch .venv-$1/bin/python\n", encoding="utf-8")
    status, said = command(environment, "doctor", "--install", "tract")
    assert status == 0 and f"tract is installed: {folder}/.venv-tract/bin/python" in said, said
    status, said = command(environment, "doctor", "--json")
    told = {each["name"]: each for each in json.loads(said)["runtimes"]}
    assert list(told) == ["onnxruntime", *RUNTIMES]
    assert [each["version"] for each in told.values()] == [None] * 4
    assert told["tvm"]["detail"].endswith("names an interpreter that has the runtime")
    assert told["tract"]["python"] == f"{folder}/.venv-tract/bin/python"  # an empty file, which does not start


def test_each_released_runtime_has_requirements_that_are_hashed() -> None:
    for runtime in ("onnxruntime", *RUNTIMES):
        text = (ROOT / f"requirements-{runtime}.txt").read_text(encoding="utf-8")
        pinned = [line for line in text.splitlines() if line and line[0] not in "# "]
        assert pinned and all("==" in line and line.endswith("\\") for line in pinned), runtime
        assert any(line.startswith("onnx==") for line in pinned), f"{runtime}: the worker reads models by onnx"
