"""Options of sessions and runs: ONNX Runtime's names and ours.

An option that has no meaning here is accepted and recorded in `ignored_options`. One that cannot be honored is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from touchstone import _native
from touchstone.devices import PROVIDER, OrtEpDevice
from touchstone.enums import ExecutionMode, ExecutionOrder, GraphOptimizationLevel, OrtExecutionProviderDevicePolicy
from touchstone.errors import Error, RuntimeException
from touchstone.operators import Parameter
from touchstone.operators import add as add_operator

_LEVELS = {
    "none": GraphOptimizationLevel.ORT_DISABLE_ALL,
    "basic": GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "extended": GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "all": GraphOptimizationLevel.ORT_ENABLE_ALL,
}
_LEVEL_NAMES = {int(level): name for name, level in _LEVELS.items()} | {
    int(GraphOptimizationLevel.ORT_ENABLE_LAYOUT): "extended"
}

# Entries of the session's configuration that cannot be honored: what each value asks for.
_REFUSED_ENTRIES = {
    ("session.load_model_format", "ORT"): "a model in the format ORT",
    ("session.save_model_format", "ORT"): "a model saved in the format ORT",
    ("session.disable_cpu_ep_fallback", "1"): "a session without the processor",
    ("ep.context_enable", "1"): "a model with compiled parts",
}
ASSIGNMENT = "session.record_ep_graph_assignment_info"
DATA_FOLDER = "session.model_external_initializers_file_folder_path"
_ENTRIES = {ASSIGNMENT, DATA_FOLDER, "session.load_model_format", "session.save_model_format"}


def _integer(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise Error("usage", f"'{name}' is a whole number, not {value!r}")
    return value.__index__()


def _boolean(name: str, value: Any) -> bool:
    if value not in (True, False):
        raise Error("usage", f"'{name}' is True or False, not {value!r}")
    return bool(value)


def _string(name: str, value: Any) -> str:
    if hasattr(value, "__fspath__"):
        value = value.__fspath__()
    if not isinstance(value, str):
        raise Error("usage", f"'{name}' is a string, not {value!r}")
    return value


def _as_given(name: str, value: Any) -> Any:
    return value


def _level(name: str, value: Any) -> GraphOptimizationLevel:
    if isinstance(value, str):
        value = _LEVELS.get(value, value)
    return _member(GraphOptimizationLevel)(name, value)


def _member(kind: type[Any]) -> Callable[[str, Any], Any]:
    def taken(name: str, value: Any) -> Any:
        try:
            return kind(value)
        except ValueError:
            listed = ", ".join(each.name for each in kind)
            raise Error("usage", f"there is no '{name}' {value!r}", help=f"there are {listed}") from None

    return taken


class Setting:
    """An attribute that checks its value. `idle` says why it has no effect; "" for one that has."""

    def __init__(self, default: Any, taken: Callable[[str, Any], Any], idle: str = ""):
        self.default, self.taken, self.idle = default, taken, idle

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, options: Any, owner: type | None = None) -> Any:
        return self if options is None else options._values.get(self.name, self.default)

    def __set__(self, options: Any, value: Any) -> None:
        options._values[self.name] = self.taken(self.name, value)


# Calls of module functions that have no effect, by name. Each session that is made later records them.
ignored_everywhere: dict[str, Any] = {}

_MEMORY = "each plan allocates the memory that it needs, once"
_LOGS = "messages have one severity in a process: that of set_default_logger_severity"


class _Options:
    """Base of the options: settings, and configuration entries by key."""

    __slots__ = ("_entries", "_values")

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._entries: dict[str, str] = {}

    @classmethod
    def settings(cls) -> dict[str, Setting]:
        return {name: each for name, each in vars(cls).items() if isinstance(each, Setting)}

    def _add_entry(self, key: str, value: str) -> None:
        self._entries[_string("key", key)] = _string(key, value)

    def _entry(self, key: str) -> str:
        if key not in self._entries:
            raise RuntimeException("usage", f"there is no configuration entry '{key}'")
        return self._entries[key]

    @property
    def is_set(self) -> bool:
        """True if any setting or entry was given."""
        return bool(self._values or self._entries)

    @property
    def ignored_options(self) -> dict[str, Any]:
        """Settings that differ from their default and have no effect, and configuration entries that have none."""
        held = {
            name: self._values[name]
            for name, each in self.settings().items()
            if each.idle and self._values.get(name, each.default) != each.default
        }
        return held | {key: value for key, value in self._entries.items() if key not in _ENTRIES}


class SessionOptions(_Options):
    """Options of a session. An unknown name is refused, not ignored.

    intra_op_num_threads      0: as many threads as the process may use.
    graph_optimization_level  none, basic, extended or all, or a GraphOptimizationLevel.
    enable_profiling          record the time of every step; InferenceSession.end_profiling writes a Chrome trace.
    profile_file_prefix       start of that file's name.
    optimized_model_filepath  writes the optimized model there, as plain ONNX.

    Not in ONNX Runtime:

    runtime                   "fast", or "reference": slow, single-threaded, generated from the definitions.
    concurrent_runs           most runs at the same time, others wait; 0: at least four, and one per processor.
    winograd                  False: convolutions are computed directly.
    with_passes               passes and patterns that run regardless of the level (`touchstone optimize --list`).
    without_passes            passes and patterns that do not run.
    limits                    "trusted", or "untrusted": for models and feeds from elsewhere (docs/limits.md).
    deadline                  seconds allowed for creating the session, and for each run; None: the limits decide.
    memory_limit              bytes that the session and its runs may use at once; None: the limits decide.
    """

    __slots__ = ("_choose", "_initializers", "_memory_files", "_named", "_denoted", "_operators", "_providers", "_stop")

    intra_op_num_threads = Setting(0, _integer)
    graph_optimization_level = Setting(GraphOptimizationLevel.ORT_ENABLE_ALL, _level)
    enable_profiling = Setting(False, _boolean)
    profile_file_prefix = Setting("touchstone_profile_", _string)
    optimized_model_filepath = Setting("", _string)
    runtime = Setting("fast", _string)
    concurrent_runs = Setting(0, _integer)
    winograd = Setting(True, _boolean)
    with_passes = Setting((), _as_given)
    without_passes = Setting((), _as_given)
    limits = Setting("trusted", _string)
    deadline = Setting(None, _as_given)
    memory_limit = Setting(None, _as_given)

    inter_op_num_threads = Setting(0, _integer, "nodes run one after another, each on all threads of the session")
    execution_mode = Setting(
        ExecutionMode.ORT_SEQUENTIAL, _member(ExecutionMode), "nodes run one after another, each on all threads"
    )
    execution_order = Setting(ExecutionOrder.DEFAULT, _member(ExecutionOrder), "the plan chooses the order")
    use_per_session_threads = Setting(True, _boolean, "each session has threads of its own")
    enable_cpu_mem_arena = Setting(True, _boolean, _MEMORY)
    enable_mem_pattern = Setting(True, _boolean, _MEMORY)
    enable_mem_reuse = Setting(True, _boolean, _MEMORY)
    use_deterministic_compute = Setting(False, _boolean, "no sum's order depends on the timing of threads")
    log_severity_level = Setting(-1, _integer, _LOGS)
    log_verbosity_level = Setting(0, _integer, _LOGS)
    logid = Setting("", _string, _LOGS)

    def __init__(self, **settings: Any):
        super().__init__()
        self._named: dict[str, int] = {}
        self._denoted: dict[str, int] = {}
        self._initializers: dict[str, Any] = {}
        self._memory_files: dict[str, Any] = {}
        self._operators = _native.Operators()
        self._providers: list[tuple[str, dict[str, str]]] = []
        self._choose: Callable[..., Sequence[OrtEpDevice]] | None = None
        self._stop = _native.Stop()
        for name, value in settings.items():
            setattr(self, name, value)

    def replaced(self, settings: Mapping[str, Any]) -> SessionOptions:
        """Returns a copy with these settings. The copy shares the flag that cancels a load."""
        copy = SessionOptions()
        for name in ("_values", "_entries", "_named", "_denoted", "_initializers", "_memory_files"):
            setattr(copy, name, dict(getattr(self, name)))
        copy._operators = self._operators.copy()
        copy._providers, copy._choose, copy._stop = list(self._providers), self._choose, self._stop
        for name, value in settings.items():
            setattr(copy, name, value)
        return copy

    def __copy__(self) -> SessionOptions:
        return self.replaced({})

    @property
    def level_name(self) -> str:
        return _LEVEL_NAMES[int(self.graph_optimization_level)]

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Adds a configuration entry. Refuses those that Touchstone cannot honor; most others have no effect."""
        if (refused := _REFUSED_ENTRIES.get((key, value))) is not None:
            raise Error("unsupported", f"the entry '{key}' = '{value}' asks for {refused}, which is not here")
        self._add_entry(key, value)

    def get_session_config_entry(self, key: str) -> str:
        return self._entry(key)

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """Gives a symbol of the model's shapes a size; a feed of another size is refused."""
        self._named[_string("name", name)] = _integer(name, size)

    def add_free_dimension_override_by_denotation(self, denotation: str, size: int) -> None:
        """Gives the open dimensions of this denotation a size; a feed of another size is refused."""
        self._denoted[_string("denotation", denotation)] = _integer(denotation, size)

    def add_initializer(self, name: str, value: Any) -> None:
        """Replaces an initializer of the model by an OrtValue of its type and shape."""
        self._initializers[_string("name", name)] = value

    def add_external_initializers(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """Refused: the files of external data are read before initializers are replaced."""
        raise Error(
            "unsupported",
            "initializers in external files are not replaced by values",
            help="add_external_initializers_from_files_in_memory takes the files' content",
        )

    def add_external_initializers_from_files_in_memory(
        self, names: Sequence[str], buffers: Sequence[Any], lengths: Sequence[int]
    ) -> None:
        """Gives the content of the model's external files, each by its name in the model."""
        for name, buffer, length in zip(names, buffers, lengths, strict=True):
            content = memoryview(buffer).cast("B")
            if not 0 <= length <= content.nbytes:
                raise Error("usage", f"'{name}' has {content.nbytes} bytes, not {length}")
            self._memory_files[_string("name", name)] = content[:length]

    def add_provider(self, name: str, options: Mapping[str, str]) -> None:
        """Adds a provider to those that InferenceSession takes if it is given none."""
        self._providers.append((_string("provider", name), dict(options)))

    def add_provider_for_devices(self, devices: Sequence[OrtEpDevice], options: Mapping[str, str]) -> None:
        for name in {device.ep_name for device in devices}:
            self.add_provider(name, options)

    def has_providers(self) -> bool:
        return bool(self._providers or self._choose or "provider_selection_policy" in self._entries)

    def set_provider_selection_policy(self, policy: OrtExecutionProviderDevicePolicy) -> None:
        """Recorded: there is one provider to choose."""
        chosen = _member(OrtExecutionProviderDevicePolicy)("policy", policy)
        self._entries["provider_selection_policy"] = chosen.name

    def set_provider_selection_policy_delegate(self, choose: Callable[..., Sequence[OrtEpDevice]]) -> None:
        """Takes a function that chooses from the devices here. A choice without the processor is refused."""
        self._choose = choose

    def set_load_cancellation_flag(self, cancel: bool) -> None:
        """True: ends the loads that use these options, from any thread."""
        self._stop.asked = bool(cancel)

    def set_ep_context_data_read_func(self, read_func: Callable[..., Any], max_data_size: int = 0) -> None:
        """Recorded: the function is never called, since models with compiled parts are refused."""
        self._entries["ep_context_data_read_func"] = getattr(read_func, "__name__", repr(read_func))

    def clear_ep_context_data_read_func(self) -> None:
        self._entries.pop("ep_context_data_read_func", None)

    def add_operator(
        self,
        domain: str,
        name: str,
        function: Callable[..., Any],
        *,
        inputs: Sequence[str | Parameter],
        outputs: Sequence[str | Parameter],
        version: int = 1,
        infer: Callable[..., Any] | None = None,
    ) -> None:
        """Adds an operator to those of the models that are loaded with these options. Not in ONNX Runtime.

        A node calls function(*inputs, **attributes), perhaps from several threads at once: arrays, None for an input
        that the node leaves out. It returns the output, or several as a tuple. `inputs` and `outputs` are types
        ("tensor(float)") or Parameters; values of other types are refused. `infer(inputs, attributes)` returns a pair
        (type or None, shape or None) for each output, from such pairs of the inputs.
        """
        add_operator(self._operators, domain, name, function, inputs, outputs, version, infer)

    def register_custom_ops_library(self, path: str) -> None:
        """Refused: the library's operators are written for ONNX Runtime's C interface; add_operator takes functions in
        Python, and ts_api.options_add_operator those in C.
        """
        raise Error(
            "unsupported",
            f"the library of custom operators '{path}' cannot be used",
            help="add_operator takes a function for each operator; or add functions to the model that define them by "
            "operators of the standard",
        )

    def chosen_providers(self) -> list[tuple[str, dict[str, str]]] | None:
        """Returns the providers added to these options, or None."""
        if self._choose is not None:
            chosen = list(self._choose([OrtEpDevice()], {}, {}, 1))
            return [(device.ep_name, dict(device.ep_options)) for device in chosen] or [("no provider", {})]
        return self._providers or None


class RunOptions(_Options):
    """Options of a run.

    terminate  True, set from any thread: the runs that use these options end with an Error of kind "cancelled".
    """

    __slots__ = ("_stop",)

    log_severity_level = Setting(-1, _integer, _LOGS)
    log_verbosity_level = Setting(0, _integer, _LOGS)
    logid = Setting("", _string, _LOGS)
    only_execute_path_to_fetches = Setting(False, _boolean, "all nodes of a plan run")

    def __init__(self) -> None:
        super().__init__()
        self._stop = _native.Stop()

    @property
    def terminate(self) -> bool:
        return self._stop.asked

    @terminate.setter
    def terminate(self, wanted: bool) -> None:
        self._stop.asked = _boolean("terminate", wanted)

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Recorded: no configuration entry has an effect."""
        self._add_entry(key, value)

    def get_run_config_entry(self, key: str) -> str:
        return self._entry(key)

    def add_active_adapter(self, adapter: Any) -> None:
        """Refused: adapters are not implemented."""
        raise Error("unsupported", "adapters of weights are not here", help=f"{PROVIDER} runs the model's own weights")
