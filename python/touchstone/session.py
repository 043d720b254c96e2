"""Sessions with the interface of ONNX Runtime."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from touchstone import _native, values
from touchstone.errors import Error
from touchstone.providers import PROVIDER, require_provider


class GraphOptimizationLevel(StrEnum):
    """Extent to which the graph is rewritten before it runs; from EXTENDED on, results may be rounded differently."""

    ORT_DISABLE_ALL = "none"
    ORT_ENABLE_BASIC = "basic"
    ORT_ENABLE_EXTENDED = "extended"
    ORT_ENABLE_ALL = "all"


@dataclass(slots=True)
class SessionOptions:
    """Options of a session. An unknown name is refused, not ignored.

    intra_op_num_threads      0: as many threads as the process may use.
    graph_optimization_level  none, basic, extended or all.
    runtime                   "fast", or "reference": slow, single-threaded, generated from the definitions.
    winograd                  False: convolutions are computed directly.
    with_passes               passes and patterns that run regardless of the level (`touchstone optimize --list`).
    without_passes            passes and patterns that do not run.
    limits                    "trusted", or "untrusted": for models and feeds from elsewhere (docs/limits.md).
    deadline                  seconds allowed for creating the session, and for each run; None: the limits decide.
    memory_limit              bytes that the session and its runs may use at once; None: the limits decide.
    """

    intra_op_num_threads: int = 0
    graph_optimization_level: str = GraphOptimizationLevel.ORT_ENABLE_ALL
    runtime: str = "fast"
    winograd: bool = True
    with_passes: Sequence[str] = field(default_factory=tuple)
    without_passes: Sequence[str] = field(default_factory=tuple)
    limits: str = "trusted"
    deadline: float | None = None
    memory_limit: int | None = None


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
    known = [each.name for each in fields(SessionOptions)]
    for name in settings:
        if name in known:
            continue
        close = difflib.get_close_matches(name, known, n=1)
        said = f"; did you mean '{close[0]}'?" if close else ""
        raise Error(
            "usage",
            f"there is no setting '{name}'{said}",
            help=f"the settings are {', '.join(known)}",
        )


class InferenceSession:
    """A loaded model, ready to run.

    Runs may come from several threads; they are serialized. The interpreter's lock is released while a model is
    loaded and while it runs.
    """

    def __init__(
        self,
        path_or_bytes: str | os.PathLike[str] | bytes,
        sess_options: SessionOptions | None = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
        **settings: Any,
    ):
        """Loads a model from a file or from bytes, which cannot refer to external files. `settings` are fields of
        SessionOptions and override `sess_options`. Raises Error for a model that is invalid or cannot run, and for an
        unknown setting.
        """
        # An option of ONNX Runtime for falling back to another provider; there is only one here.
        settings.pop("enable_fallback", None)
        _require_settings(settings)
        options = replace(sess_options or SessionOptions(), **settings)
        require_provider(providers, provider_options)
        native = _native.settings(
            options.runtime,
            options.intra_op_num_threads,
            str(options.graph_optimization_level),
            options.winograd,
            list(options.with_passes),
            list(options.without_passes),
            options.limits,
            options.deadline,
            options.memory_limit,
        )
        if isinstance(path_or_bytes, bytes | bytearray | memoryview):
            self._runner = _native.parse(bytes(path_or_bytes), native)
        else:
            self._runner = _native.open(os.fsencode(path_or_bytes), native)
        self._inputs = {port.name: port for port in self._runner.inputs}
        self._outputs = {port.name: port for port in self._runner.outputs}

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, values.Value],
        run_options: None = None,
    ) -> list[values.Value]:
        """Returns the outputs of these names, or all, in order. Raises Error for feeds that do not fit the model (kind
        "usage"), and for errors of nodes.
        """
        if run_options is not None:
            raise Error("usage", "a run has no options", help="leave run_options out")
        wanted = list(output_names) if output_names else list(self._outputs)
        for name in wanted:
            if name not in self._outputs:
                there = ", ".join(f"'{each}'" for each in self._outputs)
                raise Error("usage", f"there is no output '{name}'; there are {there}")
        feeds = []
        for name, value in input_feed.items():
            if name not in self._inputs:
                there = ", ".join(f"'{each}'" for each in self._inputs) or "none"
                _native.refuse("feed/name", f"there is no input '{name}'; there are {there}", "")
            feeds.append((name, values.feed(name, value, self._inputs[name].type)))
        return [values.taken(each) for each in self._runner.run(feeds, wanted)]

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

    def get_providers(self) -> list[str]:
        """Returns the providers in use: always the CPU alone."""
        return [PROVIDER]

    def placement(self) -> list[tuple[str, list[str]]]:
        """Returns each kernel with the nodes that it ran in the last run; empty for the reference."""
        return self._runner.placement()
