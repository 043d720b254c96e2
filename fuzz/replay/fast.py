"""Loads a model in the fast executor of this project."""

from collections.abc import Callable


def load(model: str, options: str = "") -> Callable:
    import os

    name, _, value = options.partition("=")
    if name == "isa":
        os.environ["TOUCHSTONE_ISA"] = value
    import touchstone

    threads = int(value) if name == "threads" else 1
    settings = {"level": {"graph_optimization_level": value}, "without": {"without_passes": [value]}}.get(name, {})
    session = touchstone.InferenceSession(model, intra_op_num_threads=threads, **settings)
    return lambda feeds: session.run(None, feeds)
