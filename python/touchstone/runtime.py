"""Functions of the module under ONNX Runtime's names. Those without an effect are recorded for later sessions."""

from __future__ import annotations

import sys
from typing import Any

from touchstone import logs
from touchstone._native import __version__
from touchstone.devices import PROVIDER, OrtArenaCfg, OrtMemoryInfo
from touchstone.errors import Error
from touchstone.options import ignored_everywhere

package_name = "touchstone-onnx"
version = __version__
cuda_version = ""
has_collective_ops = False
import_capi_exception = None


def get_available_providers() -> list[str]:
    return [PROVIDER]


def get_all_providers() -> list[str]:
    return [PROVIDER]


def get_device() -> str:
    return "CPU"


def get_version_string() -> str:
    return __version__


def get_build_info() -> str:
    import platform

    return f"Touchstone {__version__}, {platform.system()} {platform.machine()}"


def print_debug_info() -> None:
    """Writes the version, the platform and the providers to stdout."""
    import platform

    lines = [get_build_info(), f"platform: {platform.platform()}", f"Python: {sys.version}", f"providers: {PROVIDER}"]
    sys.stdout.write("\n".join(lines) + "\n")


def set_default_logger_severity(severity: int) -> None:
    """Passes messages of this severity and above to the loggers touchstone.* of Python's `logging`. 1 and below: also
    which nodes have no fast kernel and why, which fell back to the reference, and options without an effect.
    """
    logs.set_severity(severity)


def set_default_logger_verbosity(verbosity: int) -> None:
    """Recorded: verbose messages have one level."""
    ignored_everywhere["default_logger_verbosity"] = verbosity


def set_global_thread_pool_sizes(intra_op_num_threads: int, inter_op_num_threads: int) -> None:
    """Recorded: each session has threads of its own."""
    ignored_everywhere["global_thread_pool_sizes"] = (intra_op_num_threads, inter_op_num_threads)


def set_seed(seed: int) -> None:
    """Recorded: random operators draw by the seed of their node, or else by a fixed one."""
    ignored_everywhere["seed"] = seed


def create_and_register_allocator(memory_info: OrtMemoryInfo, arena: OrtArenaCfg | None = None) -> None:
    """Recorded: each plan allocates the memory that it needs, once."""
    ignored_everywhere["allocator"] = memory_info.name


def create_and_register_allocator_v2(
    provider: str, memory_info: OrtMemoryInfo, options: dict[str, str], arena: OrtArenaCfg | None = None
) -> None:
    """Recorded: each plan allocates the memory that it needs, once."""
    ignored_everywhere["allocator"] = memory_info.name


def disable_telemetry_events() -> None:
    """Does nothing: there is no telemetry."""


def enable_telemetry_events() -> None:
    """Recorded: there is no telemetry."""
    ignored_everywhere["telemetry"] = True


def preload_dlls(cuda: bool = True, cudnn: bool = True, msvc: bool = True, directory: str | None = None) -> None:
    """Recorded: no library of a device is used."""
    ignored_everywhere["preload_dlls"] = directory


def register_execution_provider_library(name: str, path: str) -> None:
    """Refused: providers are not loaded from libraries."""
    raise Error("unsupported", f"the provider '{name}' cannot be loaded from a library")


def unregister_execution_provider_library(name: str) -> None:
    """Refused: no provider was registered."""
    raise Error("usage", f"no provider '{name}' is registered")


class _Absent:
    """Base of the classes that are here to be refused by name."""

    refusal = ""

    def __init__(self, *arguments: Any, **named: Any):
        raise Error("unsupported", f"{type(self).__name__}: {self.refusal}")


class LoraAdapter(_Absent):
    """Refused: adapters of weights are not implemented."""

    refusal = "adapters of weights are not here"

    @staticmethod
    def Load(path: str) -> LoraAdapter:  # noqa: N802
        return LoraAdapter(path)


class AdapterFormat(_Absent):
    """Refused: adapters of weights are not implemented."""

    refusal = "adapters of weights are not here"

    @staticmethod
    def read_adapter(path: str) -> AdapterFormat:
        return AdapterFormat(path)


class ModelCompiler(_Absent):
    """Refused: models are not compiled ahead; touchstone.optimize writes the optimized graph."""

    refusal = "models are not compiled to files; touchstone.optimize writes the optimized graph"


class SparseTensor(_Absent):
    """Refused: sparse tensors do not come from Python."""

    refusal = "sparse tensors are not taken from Python"

    @classmethod
    def sparse_coo_from_numpy(cls, *arguments: Any) -> SparseTensor:
        return cls(*arguments)

    @classmethod
    def sparse_csr_from_numpy(cls, *arguments: Any) -> SparseTensor:
        return cls(*arguments)


class OrtSyncStream(_Absent):
    """Refused: the processor has no streams."""

    refusal = "the processor has no streams"


class OrtEpContextData(_Absent):
    """Refused: models with compiled parts are."""

    refusal = "models with compiled parts are not here"


class OrtEpContextDataBuffer(_Absent):
    """Refused: models with compiled parts are."""

    refusal = "models with compiled parts are not here"


class OrtExternalInitializerInfo(_Absent):
    """Refused: it places the weights of compiled models, which are not here."""

    refusal = "models are not compiled to files"
