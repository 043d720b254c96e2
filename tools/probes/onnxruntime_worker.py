"""Runs in ONNX Runtime's own environment, as a child: models of one node from standard input, a line of JSON for each.

A question may kill this process: what was answered before stands on standard output already.
"""

import ctypes
import json
import math
import os
import sys
from pathlib import Path

os.environ["LC_ALL"] = "en_US.UTF-8"
if (Path(sys.prefix) / "locale").is_dir():  # made by the set-up: kernels on strings ask for that locale by name
    os.environ["LOCPATH"] = str(Path(sys.prefix) / "locale")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

INTEGERS = [f"{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)]
PLAIN = {onnx.TensorProto.DataType.Value(name) for name in ("FLOAT", "DOUBLE", "FLOAT16", "BOOL", "STRING", *INTEGERS)}
BITS = {"INT4": 4, "UINT4": 4, "FLOAT4E2M1": 4, "INT2": 2, "UINT2": 2}
TOO_NEW = ("NOT_IMPLEMENTED", "under development", "Unsupported model IR version", "No corresponding Numpy type")


def run(job: dict) -> list[onnx.TensorProto | onnx.SequenceProto]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(job["model"], options, providers=["CPUExecutionProvider"])
    feeds = {name: onnx.load_tensor(file) for name, file in job["feeds"].items() if name not in job["lists"]}
    arrays = {name: numpy_helper.to_array(feed) for name, feed in feeds.items()}
    lists = {name: onnx.SequenceProto.FromString(Path(job["feeds"][name]).read_bytes()) for name in job["lists"]}
    names = [each.name for each in session.get_outputs()]
    if lists or {*job["outputs"], *(feed.data_type for feed in feeds.values())} <= {0, *PLAIN}:
        values = session.run(names, arrays | {name: numpy_helper.to_list(held) for name, held in lists.items()})
        return [written(name, value) for name, value in zip(names, values, strict=True)]
    given = {name: ort_value(array, feeds[name].data_type) for name, array in arrays.items()}
    results = session.run_with_ort_values(names, given)
    return [proto(name, value) for name, value in zip(names, results, strict=True)]


def written(name: str, value: np.ndarray | list[np.ndarray]) -> onnx.TensorProto | onnx.SequenceProto:
    if not isinstance(value, list):
        return numpy_helper.from_array(np.asarray(value), name)
    held = onnx.SequenceProto(name=name, elem_type=onnx.SequenceProto.TENSOR)
    held.tensor_values.extend(numpy_helper.from_array(np.asarray(item)) for item in value)
    return held


def ort_value(array: np.ndarray, code: int) -> onnxruntime.OrtValue:
    """numpy has no name for a bfloat16 or a float8: they go in as integers with their type beside them."""
    if code in PLAIN:
        return onnxruntime.OrtValue.ortvalue_from_numpy(array)
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(f"u{array.dtype.itemsize}"), code)


def proto(name: str, value: onnxruntime.OrtValue) -> onnx.TensorProto:
    """The value's own bytes, which are those of a file."""
    code, shape = value.element_type(), value.shape()
    bits = BITS.get(onnx.TensorProto.DataType.Name(code)) or 8 * helper.tensor_dtype_to_np_dtype(code).itemsize
    size = (math.prod(shape) * bits + 7) // 8
    return onnx.TensorProto(name=name, data_type=code, dims=shape, raw_data=ctypes.string_at(value.data_ptr(), size))


def main() -> None:
    for job in json.load(sys.stdin):
        row = {"kind": "outputs", "outputs": [], "why": ""}
        try:
            for position, value in enumerate(run(job)):
                file = Path(job["folder"]) / f"output_{position}.pb"
                file.write_bytes(value.SerializeToString())
                row["outputs"].append(str(file))
        except Exception as error:
            kind = "unsupported" if any(word in str(error) for word in TOO_NEW) else "error"
            row |= {"kind": kind, "outputs": [], "why": f"{type(error).__name__}: {error}"}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
