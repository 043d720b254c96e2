"""Touchstone: ONNX models, run by the fast executor or by the reference.

    import touchstone

    session = touchstone.InferenceSession("resnet50.onnx", intra_op_num_threads=2)
    (scores,) = session.run(None, {"x": image})

Code written for ONNX Runtime works after changing the import; touchstone.compat lists every name with its state.
"""

from touchstone import capi
from touchstone._native import __version__
from touchstone.binding import IOBinding
from touchstone.command import compare, conform, judge, spec
from touchstone.devices import (
    OrtArenaCfg,
    OrtDevice,
    OrtEpAssignedNode,
    OrtEpAssignedSubgraph,
    OrtEpDevice,
    OrtHardwareDevice,
    OrtMemoryInfo,
    get_ep_devices,
)
from touchstone.enums import (
    ExecutionMode,
    ExecutionOrder,
    GraphOptimizationLevel,
    OrtAllocatorType,
    OrtCompileApiFlags,
    OrtDeviceMemoryType,
    OrtDeviceVendorId,
    OrtExecutionProviderDevicePolicy,
    OrtHardwareDeviceType,
    OrtMemoryInfoDeviceType,
    OrtMemType,
    OrtSparseFormat,
)
from touchstone.errors import Error
from touchstone.functions import check, convert, optimize, show
from touchstone.operators import Parameter
from touchstone.options import RunOptions, SessionOptions
from touchstone.ortvalue import OrtValue, copy_tensors
from touchstone.runtime import (
    AdapterFormat,
    LoraAdapter,
    ModelCompiler,
    OrtEpContextData,
    OrtEpContextDataBuffer,
    OrtExternalInitializerInfo,
    OrtSyncStream,
    SparseTensor,
    create_and_register_allocator,
    create_and_register_allocator_v2,
    cuda_version,
    disable_telemetry_events,
    enable_telemetry_events,
    get_all_providers,
    get_available_providers,
    get_build_info,
    get_device,
    get_version_string,
    has_collective_ops,
    import_capi_exception,
    package_name,
    preload_dlls,
    print_debug_info,
    register_execution_provider_library,
    set_default_logger_severity,
    set_default_logger_verbosity,
    set_global_thread_pool_sizes,
    set_seed,
    unregister_execution_provider_library,
    version,
)
from touchstone.session import InferenceSession, ModelMetadata, NodeArg

SessionIOBinding = IOBinding

__all__ = [
    "AdapterFormat",
    "Error",
    "ExecutionMode",
    "ExecutionOrder",
    "GraphOptimizationLevel",
    "IOBinding",
    "InferenceSession",
    "LoraAdapter",
    "ModelCompiler",
    "ModelMetadata",
    "NodeArg",
    "OrtAllocatorType",
    "OrtArenaCfg",
    "OrtCompileApiFlags",
    "OrtDevice",
    "OrtDeviceMemoryType",
    "OrtDeviceVendorId",
    "OrtEpAssignedNode",
    "OrtEpAssignedSubgraph",
    "OrtEpContextData",
    "OrtEpContextDataBuffer",
    "OrtEpDevice",
    "OrtExecutionProviderDevicePolicy",
    "OrtExternalInitializerInfo",
    "OrtHardwareDevice",
    "OrtHardwareDeviceType",
    "OrtMemType",
    "OrtMemoryInfo",
    "OrtMemoryInfoDeviceType",
    "OrtSparseFormat",
    "OrtSyncStream",
    "OrtValue",
    "Parameter",
    "RunOptions",
    "SessionIOBinding",
    "SessionOptions",
    "SparseTensor",
    "__version__",
    "capi",
    "check",
    "compare",
    "conform",
    "convert",
    "copy_tensors",
    "create_and_register_allocator",
    "create_and_register_allocator_v2",
    "cuda_version",
    "disable_telemetry_events",
    "enable_telemetry_events",
    "get_all_providers",
    "get_available_providers",
    "get_build_info",
    "get_device",
    "get_ep_devices",
    "get_version_string",
    "has_collective_ops",
    "import_capi_exception",
    "judge",
    "optimize",
    "package_name",
    "preload_dlls",
    "print_debug_info",
    "register_execution_provider_library",
    "set_default_logger_severity",
    "set_default_logger_verbosity",
    "set_global_thread_pool_sizes",
    "set_seed",
    "show",
    "spec",
    "unregister_execution_provider_library",
    "version",
]
