"""Writes the first inputs of each target, from real files: test models and their data, images, lines, messages.

    python -m fuzz.bytes.seeds build-fuzz/seeds

tools/fuzz_bytes.py adds them to the inputs in fuzz/corpus and keeps those that reach code of their own.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from PIL import Image

from conformance.targets import wire

ROOT = Path(__file__).resolve().parents[2]
SUITE = Path.home() / ".cache" / "touchstone" / "suites"
LARGEST = 1500  # bytes of a seed: libFuzzer reaches more per second with small ones
SIZE = (5, 3)  # of images
LINES = 3  # seeds of each version of an operator, the shortest of those with different beginnings


def images() -> Iterator[bytes]:
    y, x = np.mgrid[0 : SIZE[1], 0 : SIZE[0]]
    plain = Image.fromarray(np.stack([x * 50, y * 80, x + y, 255 - x], axis=2).astype(np.uint8), "RGBA")
    kinds = [
        ("PNG", ["1", "L", "LA", "P", "RGB", "RGBA"], [{}]),
        ("BMP", ["1", "L", "P", "RGB"], [{}]),
        ("JPEG", ["L", "RGB", "CMYK"], [{}, {"progressive": True}]),
        ("JPEG2000", ["L", "RGB", "RGBA"], [{}, {"irreversible": True}]),
        ("PPM", ["1", "L", "RGB"], [{}]),
        ("TIFF", ["1", "L", "P", "RGB", "RGBA", "CMYK"], [{"compression": c} for c in ("raw", "tiff_lzw", "packbits")]),
        ("WEBP", ["RGB", "RGBA"], [{}, {"lossless": True}]),
    ]
    for kind, modes, options in kinds:
        for mode in modes:
            for option in options:
                stream = io.BytesIO()
                plain.convert(mode).save(stream, kind, **option)
                yield stream.getvalue()
    yield b"P3 2 1 255 1 2 3 4 5 6\n"
    yield b"P2\n# text\n2 1 9 1 9\n"
    yield b"P1 3 1 1 0 1"


def npy() -> Iterator[bytes]:
    for name in (
        "bool",
        "i1",
        "i2",
        "i4",
        "i8",
        "u1",
        "u2",
        "u4",
        "u8",
        "f2",
        "f4",
        "f8",
        "c8",
        "c16",
        "U3",
        "V1",
        "V2",
    ):
        for shape in ((), (3,), (2, 2), (0, 4)):
            size = int(np.prod(shape))
            stream = io.BytesIO()
            items = np.arange(size) if name[0] != "V" else np.zeros(size, name)
            np.save(stream, items.astype(name).reshape(shape))
            yield bytes([16 if name == "V2" else 17]) + stream.getvalue()
    stream = io.BytesIO()
    np.save(stream, np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    yield b"\0" + stream.getvalue()


def types() -> Iterator[bytes]:
    yield from (
        b"tensor(float)", b"sparse_tensor(int4)", b"seq(tensor(string))", b"optional(seq(tensor(bool)))",
        b"map(int64,tensor(float))", b"seq(map(string,tensor(double)))", b"tensor(float8e4m3fnuz)",
        b"1", b"-0.5", b"+1e30", b" 3.25E-4 ", b"INF", b"-inf", b"NaN", b"True", b"false", b"9223372036854775807",
        b"340282356779733661637539395458142568448", b"1e-46", b"0.1000000000000000055511151231257827",
    )  # fmt: skip


def lines() -> Iterator[bytes]:
    by_version: dict[str, list[str]] = {}
    for file in sorted((ROOT / "conformance" / "suites" / "spec").rglob("*.cases")):
        for line in file.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#") and len(line) < LARGEST:
                by_version.setdefault(line.partition("(")[0], []).append(line)
    for group in by_version.values():
        kept = {re.sub(r"[\d.\-]+", "0", line): line for line in sorted(group, key=len, reverse=True)}
        for line in sorted(kept.values(), key=len)[:LINES]:
            yield line.encode()


def framed(message: bytes) -> bytes:
    return len(message).to_bytes(8, "little") + message


def messages() -> Iterator[bytes]:
    job = b"\x0a\x04m.pb" + b"\x12\x03x.p" + b"\x18\x02"
    for question in (b"\x0a\x00", b"\x12" + bytes([len(job)]) + job):
        yield framed(question)
        yield question
    yield framed(wire.description("fast", "1.2"))
    value = numpy_helper.from_array(np.arange(3)).SerializeToString()
    for phase in wire.Phase:
        yield wire.reached(phase)
        for kind in wire.Kind:
            said = wire.Answer(kind=kind, phase=phase, detail="why", note="changed")
            said.outputs.append(wire.Output("y", "tensor(int64)", value))
            yield wire.answer(said)


def small_cases() -> Iterator[tuple[onnx.ModelProto, list[bytes]]]:
    """Small models of the newest suite, the smallest few of each operator, with their input files."""
    newest = max(SUITE.glob("[0-9]*"), key=lambda path: [int(part) for part in path.name.split(".")])
    by_ops: dict[str, list[Path]] = {}
    for file in sorted(newest.rglob("model.onnx"), key=lambda file: (file.stat().st_size, file.parent.name)):
        if file.stat().st_size > LARGEST:
            continue
        model = onnx.load(file)
        by_ops.setdefault(" ".join(sorted({node.op_type for node in model.graph.node})), []).append(file)
    for files in by_ops.values():
        for file in files[:3]:
            inputs = sorted(file.parent.glob("test_data_set_0/input_*.pb"), key=lambda path: int(path.stem[6:]))
            yield onnx.load(file), [path.read_bytes() for path in inputs]


def held(model: onnx.ModelProto, inputs: list[bytes]) -> onnx.ModelProto | None:
    """The model with its inputs as initializers; None if one is no tensor."""
    if any(not value.type.HasField("tensor_type") for value in model.graph.input):
        return None
    for value, data in zip(model.graph.input, inputs, strict=False):
        tensor = onnx.TensorProto.FromString(data)
        tensor.name = value.name
        model.graph.initializer.append(tensor)
    del model.graph.input[:]
    model.ir_version = max(model.ir_version, 4)  # before, every initializer is an input
    return model


def models() -> Iterator[bytes]:
    for model, inputs in small_cases():
        yield model.SerializeToString()
        made = held(model, inputs)
        if made is not None:
            yield made.SerializeToString()


def values() -> Iterator[bytes]:
    numbers = numpy_helper.from_array(np.arange(4, dtype=np.float32), "x")
    words = numpy_helper.from_array(np.array(["a", "bc"], dtype=object), "s")
    whole = numpy_helper.from_array(np.arange(3), "n")
    listed = onnx.TensorProto(dims=[3], data_type=onnx.TensorProto.FLOAT, float_data=[1, 2, 3])
    packed = onnx.TensorProto(dims=[3], data_type=onnx.TensorProto.INT4, int32_data=[33, 3])
    six = onnx.TensorProto(dims=[2], data_type=27, raw_data=b"\x01\x02")
    complexes = numpy_helper.from_array(np.array([1 + 2j], dtype=np.complex64))
    sparse = onnx.SparseTensorProto(values=numbers, indices=numpy_helper.from_array(np.arange(4)), dims=[9])
    sequence = onnx.SequenceProto(elem_type=onnx.SequenceProto.TENSOR, tensor_values=[whole, whole])
    some = onnx.OptionalProto(elem_type=onnx.OptionalProto.TENSOR, tensor_value=numbers)
    none = onnx.OptionalProto(elem_type=onnx.OptionalProto.TENSOR)
    texts = onnx.SequenceProto(elem_type=onnx.SequenceProto.TENSOR, tensor_values=[words])
    several = onnx.OptionalProto(elem_type=onnx.OptionalProto.SEQUENCE, sequence_value=texts)
    of_sequence = onnx.SequenceProto(elem_type=onnx.SequenceProto.TENSOR, tensor_values=[numbers] * 2)
    by_number = onnx.MapProto(key_type=onnx.TensorProto.INT64, keys=[1, 2], values=of_sequence)
    by_word = onnx.MapProto(key_type=onnx.TensorProto.STRING, string_keys=[b"a", b"b"], values=of_sequence)
    maps = onnx.SequenceProto(elem_type=onnx.SequenceProto.MAP, map_values=[by_word])
    for kind, message in [  # the kind is the type's position in values.cc
        (0, numbers), (0, listed), (1, words), (2, packed), (3, complexes), (4, six), (5, sparse), (6, sequence),
        (7, some), (7, none), (8, by_number), (9, by_word), (10, maps), (11, several),
    ]:  # fmt: skip
        yield bytes([kind]) + message.SerializeToString()


def external() -> Iterator[bytes]:
    names = ["in", "data/in", "data/deep/in", "link", "leaves", "absolute", "up/out", "down/in", "loop", "hard", "./in"]
    names += ["data//in", "data/../in", "/etc/hostname", "up/model/in", "data", "", ".", "down/../in", "C:\\in", "no"]
    rest = ["", "0", "12", "13", "0\n4", "4\n3", "0\n4\n0123456789012345678901234567890123456789", "-1", "99999999999"]
    for name in names:
        for tail in rest:
            yield f"{name}\n{tail}".encode()


SEEDS = {
    "external": external,
    "fast": models,
    "images": images,
    "lines": lines,
    "messages": messages,
    "model": models,
    "npy": npy,
    "reference": models,
    "types": types,
    "values": values,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    for target, made in SEEDS.items():
        folder = args.folder / target
        folder.mkdir(parents=True, exist_ok=True)
        for data in made():
            (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


if __name__ == "__main__":
    main()
