"""Writes conditions and replacements of conversions as C++. The language is that of pass patterns with a few more
functions."""

from __future__ import annotations

import ast
import json
from typing import ClassVar

from codegen.conversions.rules import Step
from codegen.entry import Version
from codegen.passes.language import OF_VALUES, READERS, Writer, in_force
from codegen.passes.pattern import Pattern, Versions
from codegen.passes.replacement import Replacement

# Functions of values (transform/match.h) and their number of arguments.
VALUES = {
    name: count
    for name, count in OF_VALUES.items()
    if name not in ("once", "is_output", "is_per_channel", "is_made_by", "opset", "sizes_but_one", "all_are",
                    "has_normal_products", "has_finite_sums")
} | {
    "used": 1, "many": 1, "alike": 1, "holds_only": 2, "spreads_to": 2, "reals_of": 1, "least": 1, "largest": 1,
    "infinity": 0, "whole": 1, "type_word": 1, "real_list": 4, "no_zero_or_nan": 1, "sizes_from": 2,
    "lowest": 1, "highest": 1,
}  # fmt: skip
LISTS = READERS | {"floats": "reals", "strings": "texts"}


class Conditions(Writer):
    of_values: ClassVar[dict[str, int]] = VALUES
    readers: ClassVar[dict[str, str]] = LISTS

    def __init__(self, pattern: Pattern, versions: Versions, step: Step):
        super().__init__(pattern, versions)
        self.step = step


class Nodes(Replacement):
    of_values: ClassVar[dict[str, int]] = VALUES
    readers: ClassVar[dict[str, str]] = LISTS

    def __init__(self, pattern: Pattern, versions: Versions, step: Step):
        super().__init__(pattern, versions)
        self.step = step
        # Optional outputs need not be made: a node that reads a missing one is refused when the conversion reaches it.
        optional = [k for k, parameter in enumerate(step.source.outputs) if parameter.optional]
        self.made = {0, *(1 + len(step.source.inputs) + k for k in optional)}

    def result(self, slots: list[int], value: ast.expr) -> None:
        """Emits an output of the replaced node. New names (slot -1, see `statement`) are further outputs of the node
        that makes it."""
        self.made |= set(slots)
        if isinstance(value, ast.Call) and self.operator_of(value):
            outputs = ", ".join(f"r.value(Slot{{{slot}}})" for slot in slots)
            text, constant = self.call(value, "", f"r.result({{{outputs}}}, ")
            if not constant:
                self.lines.append(f"{text};")
                return
        super().result(slots, value)

    def statement(self, statement: ast.stmt) -> None:
        targets = statement.targets[0].elts if self._is_several(statement) else []
        names = [name.id for name in targets if isinstance(name, ast.Name)]
        new = [name for name in names if name not in self.pattern.slots]
        if not new:
            super().statement(statement)
            return
        assert isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
        for name in new:
            self.lines.append(f"const GraphRewriter::Arg {name}_ = r.local({json.dumps(name)});")
            self.locals[name] = False
        slots = [self.pattern.slots.index(name) if name in self.pattern.slots else -1 for name in names]
        self.made |= set(slots)
        outputs = [
            f"{name}_" if slot < 0 else f"r.value(Slot{{{slot}}})" for name, slot in zip(names, slots, strict=True)
        ]
        begins = "r.result({" + ", ".join(outputs) + "}, "
        self.lines.append(self.call(statement.value, "", begins)[0] + ";")

    @staticmethod
    def _is_several(statement: ast.stmt) -> bool:
        return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple)

    def helper(self, name: str, arguments: list[ast.expr]) -> str:
        if name == "folded":
            return "r.folded()"
        if name == "floats":
            return f"GraphRewriter::floats({self.expression(arguments[0])})"
        if name == "empty":
            return "GraphRewriter::floats({})"
        return super().helper(name, arguments)

    def argument(self, node: ast.expr, local: str) -> tuple[str, bool]:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("folded", "floats", "empty")
        ):
            return self.helper(node.func.id, node.args), True
        return super().argument(node, local)

    def operator_of(self, node: ast.Call) -> tuple[str, str] | None:
        if ast.unparse(node.func) == "Self":
            return self.step.domain, self.step.op
        return super().operator_of(node)

    def in_use(self, domain: str, op: str, constant: bool) -> list[Version]:
        """Returns the operator's version in the step's opset, or the newest version if the node is folded."""
        known = self.versions[domain, op]
        if constant or domain != self.step.domain:
            return known[:1]
        version = in_force(known, self.step.opset)
        if version is None or (version.deprecated and not version.lived):
            raise self.fail(f"there is no {op} in opset {self.step.opset}")
        return [version]

    def attributes(self, node: ast.Call, domain: str, op: str, constant: bool) -> str:
        carried = [k for k in node.keywords if k.arg is None]
        if any(ast.unparse(k.value) != "node" for k in carried):
            raise self.fail("only the attributes of `node` can be handed on")
        own: list[str] = []
        left_out: list[str] = []
        for keyword in node.keywords:
            if keyword.arg is None:
                continue
            found = self.in_use(domain, op, constant)[0].attribute(keyword.arg)
            if found is None:
                raise self.fail(f"{self.in_use(domain, op, constant)[0].name} has no attribute {keyword.arg}")
            if isinstance(keyword.value, ast.Constant) and keyword.value.value is None:
                left_out.append(json.dumps(keyword.arg))
                continue
            value = self.expression(keyword.value)
            if found.kind == "float":
                value = f"static_cast<double>({value})"
            elif found.kind not in ("int", "ints", "string", "floats", "strings"):
                raise self.fail(f"attributes of the kind {found.kind} cannot be written")
            own.append(f"{{{json.dumps(keyword.arg)}, attribute({value})}}")
        text = f"{{{', '.join(own)}}}"
        if left_out and not carried:
            raise self.fail("only an attribute of `node` can be left out")
        if not carried:
            return text
        names = f", {{{', '.join(left_out)}}}" if left_out else ""
        base = f"r.carried({json.dumps(domain)}, {json.dumps(op)}{names})"
        return f"joined({base}, {text})" if own else base
