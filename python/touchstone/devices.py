"""Devices, as ONNX Runtime describes them. The only one is the processor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from touchstone._native import __version__
from touchstone.enums import (
    OrtAllocatorType,
    OrtDeviceMemoryType,
    OrtDeviceVendorId,
    OrtHardwareDeviceType,
    OrtMemoryInfoDeviceType,
    OrtMemType,
)
from touchstone.errors import Error

PROVIDER = "CPUExecutionProvider"
# ONNX Runtime's number of each type of device.
_TYPES = {"cpu": 0, "cuda": 1, "gpu": 1, "dml": 1, "webgpu": 1, "npu": 3, "cann": 3}


def require_processor(device_type: str) -> None:
    """Raises Error for memory of another device."""
    if device_type.lower() not in _TYPES:
        raise Error("usage", f"there is no type of device '{device_type}'", help=f"there are {', '.join(_TYPES)}")
    if device_type.lower() != "cpu":
        raise Error("unsupported", f"there is no memory of a device '{device_type}' here", help="use 'cpu'")


class OrtDevice:
    """A device by its type and number. Any may be named, but only the processor holds values."""

    def __init__(self, name: str = "cpu", device_id: int = 0, vendor_id: int = -1):
        if name not in _TYPES:
            raise Error("usage", f"there is no type of device '{name}'", help=f"there are {', '.join(_TYPES)}")
        self._name, self._id, self._vendor = name, device_id, max(0, int(vendor_id))

    @staticmethod
    def make(ort_device_name: str, device_id: int, vendor_id: int | OrtDeviceVendorId = -1) -> OrtDevice:
        return OrtDevice(ort_device_name, device_id, vendor_id)

    def device_id(self) -> int:
        return self._id

    def device_type(self) -> int:
        return _TYPES[self._name]

    def device_vendor_id(self) -> int:
        return self._vendor

    def device_mem_type(self) -> int:
        return int(OrtDeviceMemoryType.DEFAULT)


@dataclass(frozen=True)
class OrtMemoryInfo:
    """Description of memory. Values here are in the processor's memory, which this describes by default."""

    name: str = "Cpu"
    allocator_type: OrtAllocatorType = OrtAllocatorType.ORT_DEVICE_ALLOCATOR
    device_id: int = 0
    mem_type: OrtMemType = OrtMemType.DEFAULT
    device_mem_type: OrtDeviceMemoryType = OrtDeviceMemoryType.DEFAULT
    device_vendor_id: int = 0

    @staticmethod
    def create_v2(
        name: str,
        device_type: OrtMemoryInfoDeviceType,
        vendor_id: int,
        device_id: int,
        device_mem_type: OrtDeviceMemoryType,
        alignment: int,
        allocator_type: OrtAllocatorType,
    ) -> OrtMemoryInfo:
        """Describes memory of the processor. Raises Error for another device. The alignment is always that of numpy."""
        if device_type != OrtMemoryInfoDeviceType.CPU:
            raise Error("unsupported", f"there is no memory of a device of type {device_type!r} here")
        return OrtMemoryInfo(name, allocator_type, device_id, OrtMemType.DEFAULT, device_mem_type, vendor_id)


@dataclass(frozen=True)
class OrtHardwareDevice:
    type: OrtHardwareDeviceType = OrtHardwareDeviceType.CPU
    vendor: str = ""
    vendor_id: int = 0
    device_id: int = 0
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class OrtEpDevice:
    """A provider on a device."""

    ep_name: str = PROVIDER
    ep_vendor: str = "Touchstone"
    ep_metadata: Mapping[str, str] = field(default_factory=lambda: {"version": __version__})
    ep_options: Mapping[str, str] = field(default_factory=dict)
    device: OrtHardwareDevice = field(default_factory=OrtHardwareDevice)

    def memory_info(self, memory_type: OrtDeviceMemoryType = OrtDeviceMemoryType.DEFAULT) -> OrtMemoryInfo:
        return OrtMemoryInfo(device_mem_type=memory_type)

    def create_sync_stream(self, options: Any = None) -> None:
        raise Error("unsupported", "the processor has no streams", help="runs return when their outputs are there")


@dataclass(frozen=True)
class OrtEpAssignedNode:
    name: str
    domain: str
    op_type: str


@dataclass(frozen=True)
class OrtEpAssignedSubgraph:
    """Nodes that a provider runs: here all nodes of the optimized graph."""

    ep_name: str
    nodes: Sequence[OrtEpAssignedNode]

    def get_nodes(self) -> list[OrtEpAssignedNode]:
        return list(self.nodes)


@dataclass
class OrtArenaCfg:
    """Settings of an arena of memory, which have no effect: each plan allocates the memory that it needs, once."""

    max_mem: int = 0
    arena_extend_strategy: int = -1
    initial_chunk_size_bytes: int = -1
    max_dead_bytes_per_chunk: int = -1
    initial_growth_chunk_size_bytes: int = -1
    max_power_of_two_extend_bytes: int = -1


def get_ep_devices() -> list[OrtEpDevice]:
    return [OrtEpDevice()]
