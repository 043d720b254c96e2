"""The interpreter as a target of `touchstone conform`: python:tests.independent.target:Independent[:log=FOLDER].

It logs one line for each case that it refuses or leaves out, because the judge accepts any refusal. The driver
(__main__.py) checks which rule refused.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import onnx

from tests.independent.graph import run_model
from tests.independent.refusal import LeftOut, Refusal

MAX_BYTES = 4 << 20  # of a model: larger ones are whole networks


class Independent:
    version = "1"

    def load(self, model: bytes, options: dict[str, str]) -> Any:
        self.log, self.path = options.get("log", ""), options.get("path", "")
        if len(model) > MAX_BYTES:
            self.note(left_out="size: a model")
            raise LeftOut(f"size: a model of {len(model)} bytes")
        return onnx.ModelProto.FromString(model)

    def run(self, loaded: onnx.ModelProto, feeds: dict[str, Any]) -> dict[str, Any]:
        try:
            return run_model(loaded, feeds)
        except Refusal as refusal:
            self.note(rule=refusal.rule, why=str(refusal))
            raise
        except LeftOut as reason:
            self.note(left_out=str(reason))
            raise

    def note(self, **facts: str) -> None:
        if not self.log:
            return
        about = Path(self.path).parent / "case.json"  # for cases of the spec suite, this file holds the line
        said = json.loads(about.read_text(encoding="utf-8")) if about.exists() else {}
        facts["line"] = said.get("line", about.parent.name)
        with (Path(self.log) / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(facts) + "\n")
