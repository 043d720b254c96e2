"""OrtValue: tensors that share memory with arrays, and values of other kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import touchstone
from onnx import TensorProto, helper
from touchstone import OrtValue
from touchstone.ortvalue import OrtValueVector, on_processor

from tests.python import models
from tests.python.test_session import ADD, drawn, refused


def runtime_error(work: Callable[[], Any]) -> touchstone.Error:
    """Raised where ONNX Runtime raises a RuntimeError."""
    with pytest.raises(RuntimeError) as caught:
        work()
    assert isinstance(caught.value, touchstone.Error)
    return caught.value


def test_a_tensor_shares_the_memory_of_its_array() -> None:
    array = drawn(2, 3)
    value = OrtValue.ortvalue_from_numpy(array)
    array[0, 0] = 7
    assert value.numpy()[0, 0] == 7 and value.data_ptr() == array.ctypes.data
    value.update_inplace(np.full((2, 3), 5, np.float32))
    assert array.tolist() == np.full((2, 3), 5).tolist()


def test_a_tensor_describes_itself() -> None:
    value = OrtValue.ortvalue_from_numpy(drawn(2, 3))
    assert (value.shape(), value.data_type(), value.element_type()) == ([2, 3], "tensor(float)", TensorProto.FLOAT)
    assert (value.device_name(), value.tensor_size_in_bytes(), value.has_value()) == ("cpu", 24, True)
    assert (value.is_tensor(), value.is_sparse_tensor(), value.is_tensor_sequence()) == (True, False, False)
    assert np.asarray(value).tobytes() == value.numpy().tobytes()
    assert np.asarray(value, dtype=np.float64).dtype == np.float64


@pytest.mark.parametrize("code", [TensorProto.FLOAT, TensorProto.BFLOAT16, TensorProto.BOOL, TensorProto.UINT4])
def test_a_tensor_of_a_shape_and_a_type(code: int) -> None:
    value = OrtValue.ortvalue_from_shape_and_type([3, 3], code)
    assert value.element_type() == code and value.shape() == [3, 3] and not value.numpy().any()
    assert value.tensor_size_in_bytes() == {TensorProto.FLOAT: 36, TensorProto.BFLOAT16: 18, TensorProto.BOOL: 9}.get(
        code, 5
    )


def test_types_are_also_those_of_numpy() -> None:
    assert OrtValue.ortvalue_from_shape_and_type([2], np.int64).data_type() == "tensor(int64)"
    assert OrtValue.ortvalue_from_shape_and_type([], "float16").shape() == []
    assert OrtValue.ortvalue_from_shape_and_type([2], np.str_).numpy().tolist() == ["", ""]
    info = touchstone.get_ep_devices()[0].memory_info(touchstone.OrtDeviceMemoryType.HOST_ACCESSIBLE)
    assert OrtValue.ortvalue_from_shape_and_type([2], np.int8, memory_info=info).data_type() == "tensor(int8)"
    for bad in (
        lambda: OrtValue.ortvalue_from_shape_and_type([2], 99),
        lambda: OrtValue.ortvalue_from_numpy(np.zeros(2, "M8[s]")),
    ):
        assert refused(bad).kind == "usage"
    assert refused(lambda: OrtValue.ortvalue_from_shape_and_type([-1], 1)).kind == "usage"


def test_bytes_of_an_array_as_another_type() -> None:
    array = drawn(4).astype(ml_dtypes.bfloat16)
    value = OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), TensorProto.BFLOAT16)
    assert value.data_type() == "tensor(bfloat16)" and value.numpy().tolist() == array.tolist()
    assert value.data_ptr() == array.ctypes.data
    for code, kind in [
        (TensorProto.FLOAT, "usage"),
        (TensorProto.INT4, "unsupported"),
        (TensorProto.STRING, "unsupported"),
    ]:
        error = refused(lambda code=code: OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), code))
        assert error.kind == kind


def test_an_array_that_is_not_contiguous_is_copied() -> None:
    array = drawn(2, 3)
    assert OrtValue.ortvalue_from_numpy(array.T).numpy().tolist() == array.T.tolist()
    swapped = array.astype(">f4")
    assert OrtValue.ortvalue_from_numpy(swapped).numpy().tobytes() == array.tobytes()
    assert OrtValue.ortvalue_from_numpy(np.array(["a", "bc"])).numpy().tolist() == ["a", "bc"]
    assert OrtValue.ortvalue_from_numpy(np.array(["a", "bc"])).data_type() == "tensor(string)"


def test_an_update_that_does_not_fit_is_refused() -> None:
    value = OrtValue.ortvalue_from_numpy(drawn(2, 3))
    before = value.numpy().tobytes()
    for source in (drawn(5), drawn(2, 3).astype(np.float64), OrtValue.ortvalue_from_numpy(drawn(1))):
        assert runtime_error(lambda source=source: value.update_inplace(source)).kind == "usage"
    with pytest.raises(TypeError):
        value.update_inplace([1.0])
    assert value.numpy().tobytes() == before
    frozen = drawn(2)
    frozen.flags.writeable = False
    assert runtime_error(lambda: OrtValue.ortvalue_from_numpy(frozen).update_inplace(drawn(2))).kind == "usage"


def test_dlpack_out_shares_memory() -> None:
    value = OrtValue.ortvalue_from_numpy(drawn(2, 3))
    array = np.from_dlpack(value)
    value.update_inplace(np.zeros((2, 3), np.float32))
    assert not array.any() and value.__dlpack_device__() == (1, 0)
    half = OrtValue.ortvalue_from_shape_and_type([2], TensorProto.BFLOAT16)
    assert runtime_error(half.__dlpack__).kind == "unsupported"


def test_dlpack_in_shares_memory() -> None:
    array = drawn(2, 3)
    for given in (array, array.__dlpack__()):
        value = OrtValue.from_dlpack(given)
        assert value.data_ptr() == array.ctypes.data and value.data_type() == "tensor(float)"
    assert OrtValue.from_dlpack(np.ones(2, bool)).data_type() == "tensor(bool)"
    assert runtime_error(lambda: OrtValue.from_dlpack(3)).kind == "usage"


def test_another_device_is_refused() -> None:
    for work in (
        lambda: OrtValue.ortvalue_from_numpy(drawn(2), "cuda", 0),
        lambda: OrtValue.ortvalue_from_shape_and_type([2], np.float32, "cuda"),
        lambda: on_processor(touchstone.OrtDevice.make("cuda", 0)),
        lambda: touchstone.InferenceSession(ADD).create_ortvalue_from_shape_and_type([2], np.float32, "npu"),
    ):
        assert refused(work).kind == "unsupported"
    assert refused(lambda: touchstone.OrtDevice.make("toaster", 0)).kind == "usage"


def test_sparse_tensors_are_refused() -> None:
    value = OrtValue.ortvalue_from_numpy(drawn(2))
    assert refused(value.as_sparse_tensor).kind == "unsupported"
    assert refused(lambda: OrtValue.ort_value_from_sparse_tensor(None)).kind == "unsupported"


def test_runs_take_and_return_values() -> None:
    session = touchstone.InferenceSession(ADD)
    a = session.create_ortvalue_from_shape_and_type([2, 4], np.float32, "cpu")
    b = OrtValue.ortvalue_from_numpy(drawn(2, 4))
    (out,) = session.run_with_ort_values(["sum"], {"a": a, "b": b})
    assert out.is_tensor() and out.numpy().tobytes() == b.numpy().tobytes()
    assert session.run(None, {"a": a, "b": drawn(2, 4)})[0].tobytes() == b.numpy().tobytes()
    fetches = OrtValueVector()
    session.run_with_ortvaluevector(None, ["a", "b"], [b, b], ["sum"], fetches, [])
    assert fetches[0].numpy().tolist() == (drawn(2, 4) * 2).tolist()


def test_vectors() -> None:
    vector = OrtValueVector()
    vector.reserve(2)
    vector.push_back(OrtValue.ortvalue_from_numpy(drawn(2)))
    vector.push_back(OrtValue.ortvalue_from_numpy(np.array([True])))
    vector.shrink_to_fit()
    assert vector.bool_tensor_indices() == [1] and vector.element_type_at(0) == TensorProto.FLOAT
    arrays = vector.to_dlpacks(lambda capsule: OrtValue.from_dlpack(capsule).numpy())
    assert [each.tolist() for each in arrays] == [drawn(2).tolist(), [True]]
    assert OrtValue.from_dlpack(vector.dlpack_at(1)).numpy().tolist() == [True]


def test_sequences_and_optionals() -> None:
    kind = helper.make_sequence_type_proto(models.tensor(TensorProto.FLOAT))
    session = touchstone.InferenceSession(models.handed_on(kind, opset=21))
    (out,) = session.run_with_ort_values(None, {"x": OrtValue([drawn(2), drawn(3)], "seq(tensor(float))")})
    assert out.data_type() == "seq(tensor(float))" and out.is_tensor_sequence() and not out.is_tensor()
    assert [each.tolist() for each in out.numpy()] == [drawn(2).tolist(), drawn(3).tolist()]
    assert out.element_type() == TensorProto.FLOAT and out.has_value()
    for work in (out.shape, out.data_ptr, lambda: out.update_inplace(drawn(2))):
        assert runtime_error(work).kind == "usage"
    kind = helper.make_optional_type_proto(models.tensor(TensorProto.FLOAT))
    session = touchstone.InferenceSession(models.handed_on(kind, opset=21))
    (out,) = session.run_with_ort_values(None, {"x": OrtValue(None, "optional(tensor(float))")})
    assert not out.has_value() and out.data_type() == "optional(tensor(float))"


def test_tensors_are_copied_to_tensors() -> None:
    source, target = (OrtValue.ortvalue_from_numpy(drawn(3, seed=k)) for k in (1, 2))
    touchstone.copy_tensors([source], [target])
    assert target.numpy().tobytes() == source.numpy().tobytes() and target.data_ptr() != source.data_ptr()
