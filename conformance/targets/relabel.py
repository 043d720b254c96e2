"""Lowers the IR version or opset of a model to one that a runtime supports, on request; the report records it.

Only the label changes. A node with a newer definition then runs by its older one, which the judge detects.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import onnx
from onnx import TensorProto, helper

WAYS = ("ir", "opset")
FIRST_IR, FIRST_OPSET = 3, 7  # all runtimes support these and older versions


def bare_model(ir_version: int, opset: int) -> bytes:
    """Returns a model of one constant: a runtime that refuses it refuses its label."""
    constant = helper.make_tensor("y", TensorProto.FLOAT, [1], [1.0])
    info = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    graph = helper.make_graph([], "label", [], [info], [constant])
    model = helper.make_model(graph, ir_version=ir_version, opset_imports=[helper.make_opsetid("", opset)])
    return model.SerializeToString()


def newest(first: int, asked: int, loads: Callable[[int], bool]) -> int:
    """Returns the newest version that loads, from `asked` downwards."""
    return next((version for version in range(asked, first, -1) if loads(version)), first)


class Stamp:
    """Finds, once per label, the version that the runtime accepts: by its caps(), or else by loading empty models."""

    def __init__(self, target: Any, options: dict[str, str], way: str):
        if way not in WAYS:
            raise ValueError(f"relabel={way}: ways are {', '.join(WAYS)}")
        self.target, self.options, self.way = target, options, way
        self.known: dict[tuple[str, int], int] = {}
        self.caps: dict[str, Any] = target.caps() if hasattr(target, "caps") else {}

    def loads(self, ir_version: int, opset: int) -> bool:
        try:
            self.target.load(bare_model(ir_version, opset), dict(self.options))
        except Exception:
            return False
        return True

    def ir(self, asked: int) -> int:
        if "ir_version" in self.caps:
            return min(asked, self.caps["ir_version"])
        if ("ir", asked) not in self.known:
            self.known["ir", asked] = newest(FIRST_IR, asked, lambda ir: self.loads(ir, FIRST_OPSET))
        return self.known["ir", asked]

    def opset(self, asked: int) -> int:
        limit = self.caps.get("opsets", {}).get("")
        if limit is not None:
            return min(asked, limit)
        if ("opset", asked) not in self.known:
            low = self.ir(onnx.IR_VERSION)
            self.known["opset", asked] = newest(FIRST_OPSET, asked, lambda opset: self.loads(low, opset))
        return self.known["opset", asked]

    def down(self, model: onnx.ModelProto) -> str:
        """Relabels in place and returns a note, "" if nothing changed. `opset` lowers the IR version too."""
        done = []
        if (ir := self.ir(model.ir_version)) != model.ir_version:
            done.append(f"IR version {model.ir_version} stamped down to {ir}")
            model.ir_version = ir
        if self.way == "opset":
            for one in model.opset_import:
                if one.domain in ("", "ai.onnx") and (opset := self.opset(one.version)) != one.version:
                    done.append(f"opset {one.version} stamped down to {opset}")
                    one.version = opset
        return ", ".join(done)
