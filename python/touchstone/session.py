"""Sessions with the interface of ONNX Runtime."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from touchstone import _native, logs, values
from touchstone.binding import IOBinding
from touchstone.devices import PROVIDER, OrtEpAssignedNode, OrtEpAssignedSubgraph, OrtEpDevice, OrtMemoryInfo
from touchstone.errors import Error, Fail
from touchstone.opening import is_bytes, opened, profile_file
from touchstone.options import ASSIGNMENT, RunOptions, SessionOptions, ignored_everywhere
from touchstone.ortvalue import OrtValue, OrtValueVector
from touchstone.providers import require_provider


@dataclass(frozen=True)
class NodeArg:
    """An input or output. `type` reads "tensor(float)". A size in `shape` is a number, a symbol's name or None; `shape`
    is None if the model does not declare it.
    """

    name: str
    type: str
    shape: list[int | str | None] | None


@dataclass(frozen=True)
class ModelMetadata:
    """The model's description in its file, under ONNX Runtime's names. `description` and `graph_description` are doc
    strings. Of a duplicate key in metadata_props the last value counts.
    """

    producer_name: str
    graph_name: str
    domain: str
    description: str
    graph_description: str
    version: int
    custom_metadata_map: dict[str, str]


# ONNX Runtime's value for a version that the file does not give.
_NO_VERSION = 2**63 - 1


def _node_arg(port: _native.Port) -> NodeArg:
    return NodeArg(port.name, str(port.type), port.shape)


def _require_settings(settings: Mapping[str, Any]) -> None:
    known = SessionOptions.settings()
    for name in settings:
        if name in known:
            continue
        import difflib

        close = difflib.get_close_matches(name, known, n=1)
        said = f"; did you mean '{close[0]}'?" if close else ""
        raise Error(
            "usage",
            f"there is no setting '{name}'{said}",
            help=f"the settings are {', '.join(known)}",
        )


# Keywords of ONNX Runtime's constructor that have no effect: there is one provider, no configuration in models, and
# its optimizers are not ours.
_IDLE_KEYWORDS = ("enable_fallback", "read_config_from_model", "disabled_optimizers")


class InferenceSession:
    """A loaded model, ready to run.

    Runs may come from several threads, and run at the same time (SessionOptions.concurrent_runs). The interpreter's
    lock is released while a model is loaded and while it runs.

    ignored_options  name -> value of all that was accepted and has no effect.
    """

    def __init__(
        self,
        path_or_bytes: str | os.PathLike[str] | bytes,
        sess_options: SessionOptions | None = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
        **settings: Any,
    ):
        """Loads a model from a file or from bytes, which cannot refer to external files unless their folder or content
        is among the options. `settings` are fields of SessionOptions and override `sess_options`. Raises Error for a
        model that is invalid or cannot run, and for an unknown setting.
        """
        idle = {name: settings.pop(name) for name in _IDLE_KEYWORDS if name in settings}
        _require_settings(settings)
        if not isinstance(sess_options, SessionOptions | None):
            raise Error("usage", f"sess_options is a SessionOptions, not {type(sess_options).__name__}")
        options = (sess_options or SessionOptions()).replaced(settings)
        if providers is None:
            providers = options.chosen_providers()
        idle |= require_provider(providers, provider_options)
        self.ignored_options: dict[str, Any] = {**ignored_everywhere, **options.ignored_options, **idle}
        if self.ignored_options:
            logs.write(logs.INFO, "options", f"without an effect: {', '.join(self.ignored_options)}")
        self._options = self._sess_options = options
        # Programs read these attributes of ONNX Runtime's sessions.
        self._providers, self._provider_options = [PROVIDER], {PROVIDER: {}}
        self._model_path = None if is_bytes(path_or_bytes) else os.fspath(path_or_bytes)
        self._runner = opened(path_or_bytes, options)
        self._profile_begin = time.monotonic_ns() if options.enable_profiling else 0
        self._profile_file = profile_file(options) if options.enable_profiling else ""
        self._inputs = {port.name: port for port in self._runner.inputs}
        self._outputs = {port.name: port for port in self._runner.outputs}

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, values.Value],
        run_options: RunOptions | None = None,
    ) -> list[values.Value]:
        """Returns the outputs of these names, or all, in order. Raises Error for feeds that do not fit the model (kind
        "usage"), and for errors of nodes.
        """
        if run_options is None and type(input_feed) is dict:  # most runs, and the shortest path
            made = self._runner.run_on_arrays(output_names, input_feed)
            if made is not None:
                return made
        stop = None if run_options is None else self._stop_of(run_options)
        return [values.taken(each) for each in self._native_run(output_names, input_feed, stop)]

    def _native_run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, values.Value], stop: _native.Stop | None
    ) -> list[_native.Value]:
        wanted = self._wanted(output_names)
        return self._runner.run(self._fed(input_feed), wanted, stop)

    def _wanted(self, output_names: Sequence[str] | None) -> list[str]:
        wanted = list(output_names) if output_names else list(self._outputs)
        for name in wanted:
            if name not in self._outputs:
                there = ", ".join(f"'{each}'" for each in self._outputs)
                raise Error("usage", f"there is no output '{name}'; there are {there}")
        return wanted

    def _fed(self, input_feed: Mapping[str, values.Value]) -> list[tuple[str, _native.Value]]:
        feeds = []
        for name, value in input_feed.items():
            if name not in self._inputs:
                there = ", ".join(f"'{each}'" for each in self._inputs) or "none"
                _native.refuse("feed/name", f"there is no input '{name}'; there are {there}", "")
            if isinstance(value, OrtValue):
                value = value.numpy()
            feeds.append((name, values.feed(name, value, self._inputs[name].type)))
        return feeds

    def _stop_of(self, run_options: RunOptions) -> _native.Stop:
        if not isinstance(run_options, RunOptions):
            raise Error("usage", f"run_options is a RunOptions, not {type(run_options).__name__}")
        if run_options.is_set:
            self.ignored_options |= {f"run.{name}": value for name, value in run_options.ignored_options.items()}
        return run_options._stop

    def run_async(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, values.Value],
        callback: Callable[[list[values.Value], Any, str], None],
        user_data: Any,
        run_options: RunOptions | None = None,
    ) -> None:
        """Runs in a thread of its own, which then calls `callback(outputs, user_data, error)`: error is "" or a message
        with no outputs. Feeds are copied before this returns.
        """
        stop = None if run_options is None else self._stop_of(run_options)
        wanted, feeds = self._wanted(output_names), self._fed(input_feed)

        def work() -> None:
            try:
                made, said = [values.taken(each) for each in self._runner.run(feeds, wanted, stop)], ""
            except Error as error:
                made, said = [], str(error)
            callback(made, user_data, said)

        # Not a daemon: the interpreter waits for it, since native code cannot be left at exit.
        threading.Thread(target=work, name="touchstone.run_async").start()

    def run_with_ort_values(
        self,
        output_names: Sequence[str] | None,
        input_dict_ort_values: Mapping[str, OrtValue],
        run_options: RunOptions | None = None,
    ) -> list[OrtValue]:
        """Like `run`, with OrtValues in and out."""
        stop = None if run_options is None else self._stop_of(run_options)
        made = self._native_run(output_names, input_dict_ort_values, stop)
        return [OrtValue(values.taken(each), str(each.type)) for each in made]

    def run_with_ortvaluevector(
        self,
        run_options: RunOptions | None,
        feed_names: Sequence[str],
        feeds: Sequence[OrtValue],
        fetch_names: Sequence[str],
        fetches: OrtValueVector,
        fetch_devices: Sequence[Any],
    ) -> None:
        """Like `run_with_ort_values`; the outputs replace the content of `fetches`."""
        fetches[:] = self.run_with_ort_values(fetch_names, dict(zip(feed_names, feeds, strict=True)), run_options)

    def io_binding(self) -> IOBinding:
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        """Runs on the memory that is bound. Raises Error for a binding of another session."""
        if iobinding._session is not self:
            raise Error("usage", "the binding is of another session", help="take io_binding() of this one")
        iobinding.run(None if run_options is None else self._stop_of(run_options))

    def create_ortvalue_from_shape_and_type(
        self, shape: Sequence[int], element_type: Any, device_type: str, device_id: int = 0, vendor_id: int = -1
    ) -> OrtValue:
        return OrtValue.ortvalue_from_shape_and_type(shape, element_type, device_type, device_id, vendor_id)

    @property
    def input_names(self) -> list[str]:
        """Names of all inputs, in graph order."""
        return list(self._inputs)

    def get_inputs(self) -> list[NodeArg]:
        """Describes the inputs that must be fed."""
        return [_node_arg(port) for port in self._runner.inputs if not port.has_default]

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Describes the inputs that have a default in the model and may be fed."""
        return [_node_arg(port) for port in self._runner.inputs if port.has_default]

    def get_outputs(self) -> list[NodeArg]:
        return [_node_arg(port) for port in self._runner.outputs]

    def get_modelmeta(self) -> ModelMetadata:
        """Returns the producer, version, doc strings and metadata_props of the model's file."""
        meta = self._runner.metadata
        return ModelMetadata(
            meta["producer_name"],
            meta["graph_name"],
            meta["domain"],
            meta["description"],
            meta["graph_description"],
            _NO_VERSION if meta["version"] is None else meta["version"],
            dict(meta["properties"]),
        )

    def get_session_options(self) -> SessionOptions:
        return self._options

    def get_providers(self) -> list[str]:
        """Returns the providers in use: always the CPU alone."""
        return [PROVIDER]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """Returns the options in effect of each provider: none."""
        return {PROVIDER: {}}

    def set_providers(
        self, providers: Sequence[Any] | None = None, provider_options: Sequence[Mapping[str, Any]] | None = None
    ) -> None:
        """Checks the list as the constructor does. The session stays on the CPU provider."""
        self.ignored_options |= require_provider(providers, provider_options)

    def disable_fallback(self) -> None:
        """Does nothing: there is no second provider."""

    def enable_fallback(self) -> None:
        """Does nothing: there is no second provider."""

    def get_input_memory_infos(self) -> list[OrtMemoryInfo]:
        return [OrtMemoryInfo() for _ in self.get_inputs()]

    def get_output_memory_infos(self) -> list[OrtMemoryInfo]:
        return [OrtMemoryInfo() for _ in self._outputs]

    def get_input_epdevices(self) -> list[OrtEpDevice]:
        return [OrtEpDevice() for _ in self.get_inputs()]

    def get_provider_graph_assignment_info(self) -> list[OrtEpAssignedSubgraph]:
        """Returns the nodes of the optimized graph, all on the CPU provider. Raises Error unless the session was made
        with the entry "session.record_ep_graph_assignment_info" = "1", as ONNX Runtime does.
        """
        if self._options._entries.get(ASSIGNMENT) != "1":
            raise Fail("usage", f"the assignment of nodes is not recorded; set the entry '{ASSIGNMENT}' to '1'")
        return [OrtEpAssignedSubgraph(PROVIDER, [OrtEpAssignedNode(*each) for each in self._runner.nodes])]

    def set_ep_dynamic_options(self, options: Mapping[str, str]) -> None:
        """Recorded: no option of a provider has an effect."""
        self.ignored_options |= {f"dynamic.{name}": value for name, value in options.items()}

    def get_tuning_results(self) -> list[Any]:
        """Returns nothing: kernels are not tuned."""
        return []

    def set_tuning_results(self, results: Sequence[Any], *, error_on_invalid: bool = False) -> None:
        """Recorded: kernels are not tuned. With `error_on_invalid`, results are refused."""
        if results and error_on_invalid:
            raise Error("unsupported", "results of another runtime's tuning cannot be used")
        if results:
            self.ignored_options["tuning_results"] = list(results)

    def release_captured_graph(self, graph_annotation_id: int = 0) -> None:
        """Does nothing: no graph is captured."""

    def end_profiling(self) -> str:
        """Writes the steps of all runs so far, up to about a million events, as a Chrome trace. Returns the file's
        name, "" without a profile.
        """
        file, self._profile_file = self._profile_file, ""
        if file:
            self._runner.end_profile(os.fsencode(file))
        return file

    def get_profiling_start_time_ns(self) -> int:
        """Returns time.monotonic_ns() at the start of the profile, 0 without one."""
        return self._profile_begin

    def placement(self) -> list[tuple[str, list[str]]]:
        """Returns each kernel with the nodes that it ran in the last run; empty for the reference."""
        return self._runner.placement()
