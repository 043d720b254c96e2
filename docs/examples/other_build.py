"""The package of another build as a target, one session for all sets of feeds of a model.

touchstone fuzz --level graph --target python:docs.examples.other_build:OtherBuild:package=../earlier/build/python
"""

from __future__ import annotations

import hashlib
import sys
from typing import Any

MOST_SESSIONS = 2  # a graph case runs two models: as it is, and with every value as an output


class OtherBuild:
    def __init__(self) -> None:
        self.sessions: dict[bytes, Any] = {}

    def load(self, model: bytes, options: dict[str, str]) -> Any:
        """Workers load a model for each set of feeds: the same bytes get the same session."""
        key = hashlib.sha256(model).digest()
        if key not in self.sessions:
            if options["package"] not in sys.path:
                sys.path.insert(0, options["package"])
            import touchstone

            while len(self.sessions) >= MOST_SESSIONS:
                del self.sessions[next(iter(self.sessions))]
            self.sessions[key] = touchstone.InferenceSession(options["path"], intra_op_num_threads=1)
        return self.sessions[key]

    def run(self, session: Any, feeds: dict[str, Any]) -> dict[str, Any]:
        names = [output.name for output in session.get_outputs()]
        return dict(zip(names, session.run(None, feeds), strict=True))
