"""Every public name of ONNX Runtime 1.31.1 that code may use, and its state here.

`table()` reads the state from the package. A setting with a reason to be idle is accepted without effect. So is a
function whose docstring opens with "Does nothing:" or "Recorded:"; one with "Refused:" is refused. All others work.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import touchstone
from touchstone.options import Setting

ONNXRUNTIME = "1.31.1"

NAMES: dict[str, str] = {
    "InferenceSession": """
        create_ortvalue_from_shape_and_type disable_fallback enable_fallback end_profiling get_input_epdevices
        get_input_memory_infos get_inputs get_modelmeta get_output_memory_infos get_outputs
        get_overridable_initializers get_profiling_start_time_ns get_provider_graph_assignment_info
        get_provider_options get_providers get_session_options get_tuning_results io_binding release_captured_graph run
        run_async run_with_iobinding run_with_ort_values run_with_ortvaluevector set_ep_dynamic_options set_providers
        set_tuning_results
    """,
    "SessionOptions": """
        add_external_initializers add_external_initializers_from_files_in_memory
        add_free_dimension_override_by_denotation add_free_dimension_override_by_name add_initializer add_provider
        add_provider_for_devices add_session_config_entry clear_ep_context_data_read_func enable_cpu_mem_arena
        enable_mem_pattern enable_mem_reuse enable_profiling execution_mode execution_order get_session_config_entry
        graph_optimization_level has_providers inter_op_num_threads intra_op_num_threads log_severity_level
        log_verbosity_level logid optimized_model_filepath profile_file_prefix register_custom_ops_library
        set_ep_context_data_read_func set_load_cancellation_flag set_provider_selection_policy
        set_provider_selection_policy_delegate use_deterministic_compute use_per_session_threads
    """,
    "RunOptions": """
        add_active_adapter add_run_config_entry get_run_config_entry log_severity_level log_verbosity_level logid
        only_execute_path_to_fetches terminate
    """,
    "IOBinding": """
        bind_cpu_input bind_input bind_ortvalue_input bind_ortvalue_output bind_output clear_binding_inputs
        clear_binding_outputs copy_outputs_to_cpu get_outputs get_outputs_as_ortvaluevector synchronize_inputs
        synchronize_outputs
    """,
    "OrtValue": """
        as_sparse_tensor data_ptr data_type device_name element_type from_dlpack has_value is_sparse_tensor is_tensor
        is_tensor_sequence numpy ort_value_from_sparse_tensor ortvalue_from_numpy ortvalue_from_numpy_with_onnx_type
        ortvalue_from_shape_and_type shape tensor_size_in_bytes update_inplace
    """,
    "onnxruntime": """
        AdapterFormat ExecutionMode ExecutionOrder GraphOptimizationLevel IOBinding InferenceSession LoraAdapter
        ModelCompiler ModelMetadata NodeArg OrtAllocatorType OrtArenaCfg OrtCompileApiFlags OrtDevice
        OrtDeviceMemoryType OrtDeviceVendorId OrtEpAssignedNode OrtEpAssignedSubgraph OrtEpContextData
        OrtEpContextDataBuffer OrtEpDevice OrtExecutionProviderDevicePolicy OrtExternalInitializerInfo
        OrtHardwareDevice OrtHardwareDeviceType OrtMemType OrtMemoryInfo OrtMemoryInfoDeviceType OrtSparseFormat
        OrtSyncStream OrtValue RunOptions SessionIOBinding SessionOptions SparseTensor capi copy_tensors
        create_and_register_allocator create_and_register_allocator_v2 cuda_version disable_telemetry_events
        enable_telemetry_events get_all_providers get_available_providers get_build_info get_device get_ep_devices
        get_version_string has_collective_ops import_capi_exception package_name preload_dlls print_debug_info
        register_execution_provider_library set_default_logger_severity set_default_logger_verbosity
        set_global_thread_pool_sizes set_seed unregister_execution_provider_library version
    """,
}

STATES = ("works", "accepted", "refused")
_OPENINGS = {"Does nothing: ": "accepted", "Recorded: ": "accepted", "Refused: ": "refused"}

# Differences of names that work.
_NOTES = {
    "InferenceSession.get_inputs": "the shape of an input without a declared rank is None, not []",
    "InferenceSession.get_providers": "always CPUExecutionProvider alone",
    "InferenceSession.run": "large arrays of floats are read in place; several threads may run one session at once",
    "InferenceSession.set_providers": "a list that can be met changes nothing: there is one provider",
    "InferenceSession.end_profiling": "a Chrome trace of each run's steps; the file is written here, not by the runs",
    "SessionOptions.add_session_config_entry": "entries about memory, threads and kernels have no effect; those that "
    "ask for the format ORT, compiled parts or a session without the processor are refused",
    "SessionOptions.graph_optimization_level": "ORT_ENABLE_LAYOUT is ORT_ENABLE_EXTENDED; numbers and names are taken",
    "SessionOptions.profile_file_prefix": "by default touchstone_profile_",
    "OrtValue.numpy": "no copy; also of bfloat16 and the types under 16 bits",
    "OrtValue.update_inplace": "an array of another type is refused",
    "onnxruntime.set_default_logger_severity": "messages go to the loggers touchstone.* of Python's logging",
    "onnxruntime.OrtArenaCfg": "its values have no effect",
    "onnxruntime.version": "that of Touchstone",
    "onnxruntime.get_version_string": "that of Touchstone",
}


@dataclass(frozen=True)
class Row:
    """A name, its state, and the reason or a note."""

    owner: str
    name: str
    state: str
    note: str


def _owner(owner: str) -> Any:
    return sys.modules["touchstone"] if owner == "onnxruntime" else getattr(touchstone, owner)


def _row(owner: str, name: str) -> Row:
    found = getattr(_owner(owner), name)
    if isinstance(found, Setting):
        if found.idle:
            return Row(owner, name, "accepted", found.idle)
    elif callable(found):
        said = " ".join((found.__doc__ or "").split("\n\n")[0].split())
        for opening, state in _OPENINGS.items():
            if said.startswith(opening):
                return Row(owner, name, state, said.removeprefix(opening).partition(". ")[0].rstrip("."))
    return Row(owner, name, "works", _NOTES.get(f"{owner}.{name}", ""))


def table() -> list[Row]:
    """Returns a row for each name, by owner, in alphabetical order."""
    return [_row(owner, name) for owner, names in NAMES.items() for name in names.split()]


def page() -> str:
    """Returns docs/from-onnxruntime.md."""
    rows = table()
    counts = {state: sum(row.state == state for row in rows) for state in STATES}
    lines = [
        "# From ONNX Runtime",
        "",
        f"Each public name of the Python module of ONNX Runtime {ONNXRUNTIME}, and what it does after",
        "`import touchstone as onnxruntime`. `touchstone.compat.table()` returns the same rows; a test compares the",
        "names with those of the installed wheel. `.venv/bin/python -m tests.python.write_page` writes this page.",
        "",
        f"Of {len(rows)} names {counts['works']} work. {counts['accepted']} are accepted without an effect, and",
        f"recorded in `ignored_options` if they ask for something. {counts['refused']} are refused by name.",
    ]
    for owner in NAMES:
        title = "The module" if owner == "onnxruntime" else owner
        lines += ["", f"## {title}", "", "| name | state | |", "|---|---|---|"]
        shown = [row for row in rows if row.owner == owner]
        lines += [f"| `{row.name}` | {row.state} | {row.note} |".replace("|  |", "| |") for row in shown]
    return "\n".join(lines) + "\n"
