"""Target that misbehaves as its case requests, for tests of the host: the name of the model's graph selects the
fault."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import onnx


class WishError(Exception):
    """Stands for a vendor's own error class, which shares only an attribute name with this project."""

    touchstone_fault = "unsupported"


class RuleError(Exception):
    touchstone_fault = "invalid_model"


class BadTarget:
    version = "0"

    def __init__(self) -> None:
        self.runs = 0
        self.poisoned = False

    def load(self, model: bytes, options: dict[str, str]) -> str:
        deed = onnx.ModelProto.FromString(model).graph.name
        if deed == "hang-loading":
            signal.pause()
        if deed == "refuse":
            raise WishError("no kernel for it")
        if deed == "call-invalid":
            raise RuleError("this is no model")
        return deed

    def run(self, deed: str, feeds: dict[str, Any]) -> dict[str, Any]:
        if self.poisoned or deed == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        self.runs += 1
        a, b = feeds["a"], feeds["b"]
        y = a + b
        match deed:
            case "hang":
                signal.pause()
            case "leave":
                os._exit(3)
            case "raise":
                raise RuntimeError("surprise")
            case "memory":
                hoard = []
                while True:
                    hoard.append(np.empty(1 << 25))  # allocates address space, which is limited; no page is touched
            case "print":
                print("x" * 100_000, flush=True)
            case "too-few":
                return {}
            case "no-dict":
                return [y]  # type: ignore[return-value]
            case "wrong-value":
                y[0] += 1
            case "wrong-type":
                y = y.astype(np.int32)
            case "wrong-shape":
                y = y[:, None]
            case "no-value":
                return {"y": {"a": y}}
            case "strange-array":
                y = y.astype("datetime64[s]")
            case "write-input":
                a[0] = 7
            case "differ":
                y[0] += self.runs
            case "poison":
                self.poisoned = True
        return {"y": y}
