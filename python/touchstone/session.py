"""Sessions, in the shape that users of ONNX Runtime know."""

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
    """How much the graph is changed before it runs; from EXTENDED on a result may be rounded otherwise."""

    ORT_DISABLE_ALL = "none"
    ORT_ENABLE_BASIC = "basic"
    ORT_ENABLE_EXTENDED = "extended"
    ORT_ENABLE_ALL = "all"


@dataclass(slots=True)
class SessionOptions:
    """What a session is made with. A name that is not here is refused, not ignored.

    intra_op_num_threads      0: as many as the process may use
    graph_optimization_level  none, basic, extended or all
    runtime                   "fast", or "reference": slow, in one thread, generated from the definitions
    winograd                  False: convolutions sum their products one by one
    with_passes               passes and patterns that run whatever the level says (`touchstone optimize --list`)
    without_passes            those that do not
    limits                    "trusted", or "untrusted": for models and feeds from elsewhere (docs/limits.md)
    deadline                  seconds that making the session, and each run, may take; None: as the limits say
    memory_limit              bytes that the session and its runs may use at once; None: as the limits say
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
    """An input or output: `type` as in "tensor(float)"; a size of `shape` is a number, a symbol's name or None, and
    `shape` itself is None where the model does not say it.
    """

    name: str
    type: str
    shape: list[int | str | None] | None


@dataclass(frozen=True)
class ModelMetadata:
    """The model as its file describes it, in ONNX Runtime's names. `description` and `graph_description` are doc strings;
    of a key that stands twice in metadata_props, the last value counts.
    """

    producer_name: str
    graph_name: str
    domain: str
    description: str
    graph_description: str
    version: int
    custom_metadata_map: dict[str, str]


# A version that the file does not say, as ONNX Runtime has it.
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
    """A model ready to run.

    Runs may come from several threads: each waits for the one before it. The interpreter's lock is free while a model
    is loaded and while it runs.
    """

    def __init__(
        self,
        path_or_bytes: str | os.PathLike[str] | bytes,
        sess_options: SessionOptions | None = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
        **settings: Any,
    ):
        """A model's file, or its bytes (which cannot name files beside them). `settings` are fields of SessionOptions,
        and count before `sess_options`. Raises Error for a model that is not valid or cannot run, and for a setting
        that is not there.
        """
        settings.pop("enable_fallback", None)  # of ONNX Runtime: to a provider that comes later, and there is one
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
        """The outputs of these names, or all, in this order. Raises Error for feeds that do not fit the model (kind
        "usage"), and for what a node refuses.
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
        """All inputs, in the order of the graph."""
        return list(self._inputs)

    def get_inputs(self) -> list[NodeArg]:
        """The inputs that have to be fed."""
        return [_node_arg(port) for port in self._runner.inputs if not port.has_default]

    def get_overridable_initializers(self) -> list[NodeArg]:
        """The inputs that have a value of the model's own, and may be fed."""
        return [_node_arg(port) for port in self._runner.inputs if port.has_default]

    def get_outputs(self) -> list[NodeArg]:
        return [_node_arg(port) for port in self._runner.outputs]

    def get_modelmeta(self) -> ModelMetadata:
        """The producer, version, doc strings and metadata_props of the model's file."""
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
        """Where the nodes run: on the processor, all of them."""
        return [PROVIDER]

    def placement(self) -> list[tuple[str, list[str]]]:
        """Which kernel ran which nodes in the last run; empty for the reference."""
        return self._runner.placement()
