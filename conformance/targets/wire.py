"""Implements target.proto in plain Python, so that a worker needs only its vendor's packages, with any protobuf
version."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import BinaryIO


class Kind(IntEnum):
    OUTPUTS = 0
    REFUSED = 1
    WROTE_INPUT = 2
    DIFFERED = 3


class Phase(IntEnum):
    LOAD = 0
    FEED = 1
    RUN = 2


class Fault(IntEnum):
    """Error statuses of a refusal."""

    USAGE = 0
    INVALID_MODEL = 1
    INVALID_INPUT = 2
    UNSUPPORTED = 3
    OUT_OF_MEMORY = 4
    LIMIT = 5
    CANCELLED = 6
    FILE = 7
    INTERNAL = 8


@dataclass
class Job:
    model: str = ""
    inputs: list[str] = field(default_factory=list)
    runs: int = 1


@dataclass
class Output:
    name: str
    type: str
    value: bytes


@dataclass
class Answer:
    kind: Kind = Kind.REFUSED
    phase: Phase = Phase.LOAD
    fault: Fault = Fault.INTERNAL
    detail: str = ""
    outputs: list[Output] = field(default_factory=list)
    note: str = ""


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        value, at = _read_varint(data, at)
        if key & 7 == 0:
            yield key >> 3, value
        elif key & 7 == 2:
            yield key >> 3, data[at : at + value]
            at += value
        else:
            raise ValueError(f"a field of kind {key & 7}, which no question has")


def read_question(data: bytes) -> Job | None:
    """Returns a job, or None if the host requests a description."""
    for number, value in _fields(data):
        if number == 1:
            return None
        if number == 2 and isinstance(value, bytes):
            job = Job()
            for inner, one in _fields(value):
                if inner == 3:
                    job.runs = int(one)
                elif isinstance(one, bytes):
                    path = one.decode("utf-8", "surrogateescape")
                    if inner == 1:
                        job.model = path
                    elif inner == 2:
                        job.inputs.append(path)
            return job
    raise ValueError("the host asked what is no question")


def description(name: str, version: str) -> bytes:
    return _field(1, _field(1, name) + _field(2, version))


def reached(phase: Phase) -> bytes:
    return _field(2, int(phase))


def answer(said: Answer) -> bytes:
    text = _field(1, int(said.kind)) + _field(2, int(said.phase)) + _field(3, int(said.fault)) + _field(4, said.detail)
    for one in said.outputs:
        text += _field(5, _field(1, one.name) + _field(2, one.type) + _field(3, one.value))
    return _field(3, text + _field(6, said.note))


def receive(stream: BinaryIO) -> bytes | None:
    """Receives one message; None when the host is gone."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    size = int.from_bytes(head, "little")
    data = stream.read(size)
    return data if len(data) == size else None


def send(stream: BinaryIO, message: bytes) -> None:
    stream.write(len(message).to_bytes(8, "little") + message)
    stream.flush()
