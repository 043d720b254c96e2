"""Generates every_type.onnx: for each element type two initializers of the same codes, one raw, one typed."""

from __future__ import annotations

import sys
from pathlib import Path

from onnx import TensorProto, helper

COUNT = 5  # does not fill the last byte of packed types
BITS = {
    "UINT4": 4, "INT4": 4, "FLOAT4E2M1": 4, "UINT2": 2, "INT2": 2, "FLOAT6E2M3": 6, "FLOAT6E3M2": 6,
    "BOOL": 1, "FLOAT16": 16, "BFLOAT16": 16, "UINT16": 16, "INT16": 16, "FLOAT": 32, "INT32": 32, "UINT32": 32,
    "DOUBLE": 64, "INT64": 64, "UINT64": 64, "COMPLEX64": 64, "COMPLEX128": 128,
}  # fmt: skip


def code(k: int, bits: int) -> int:
    """Returns the code of element k: every byte is (37 k + 11 b + 5) mod 64, so that no float is a NaN."""
    return sum((37 * k + 11 * b + 5) % 64 << 8 * b for b in range((bits + 7) // 8)) & ((1 << bits) - 1)


def packed(codes: list[int], bits: int) -> bytes:
    """Packs codes into one stream of bits, lowest first; a bool takes a byte."""
    if bits == 1:
        return bytes(codes)
    stream = sum(code << bits * k for k, code in enumerate(codes))
    return stream.to_bytes((len(codes) * bits + 7) // 8, "little")


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def typed(name: str, codes: list[int], bits: int, raw: bytes) -> TensorProto:
    tensor = TensorProto(name=f"{name}_typed", data_type=TensorProto.DataType.Value(name), dims=[COUNT])
    if name in ("FLOAT", "COMPLEX64"):
        tensor.float_data.extend(memoryview(raw).cast("f"))
    elif name in ("DOUBLE", "COMPLEX128"):
        tensor.double_data.extend(memoryview(raw).cast("d"))
    elif name == "INT64":
        tensor.int64_data.extend(memoryview(raw).cast("q"))
    elif name in ("UINT32", "UINT64"):
        tensor.uint64_data.extend(codes)
    elif bits in (2, 4):
        tensor.int32_data.extend(raw)
    elif name in ("INT8", "INT16", "INT32"):
        tensor.int32_data.extend(signed(code, bits) for code in codes)
    else:
        tensor.int32_data.extend(codes)
    return tensor


def make() -> bytes:
    tensors = [helper.make_tensor("STRING_typed", TensorProto.STRING, [2], [b"one", b"\xc3\x00\xa4"])]
    for name, number in TensorProto.DataType.items():
        if name in ("UNDEFINED", "STRING"):
            continue
        bits = BITS.get(name, 8)
        codes = [code(k, bits) for k in range(COUNT)]
        raw = packed(codes, bits)
        tensors.append(TensorProto(name=f"{name}_raw", data_type=number, dims=[COUNT], raw_data=raw))
        tensors.append(typed(name, codes, bits, raw))
    graph = helper.make_graph([], "every_type", [], [], initializer=tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], producer_name="", ir_version=10)
    return model.SerializeToString(deterministic=True)


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "every_type.onnx").write_bytes(make())
