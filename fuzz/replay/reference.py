"""Loads a model in the reference interpreter of this project."""

from collections.abc import Callable


def load(model: str) -> Callable:
    import touchstone

    session = touchstone.InferenceSession(model, runtime="reference")
    return lambda feeds: session.run(None, feeds)
