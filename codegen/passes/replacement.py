"""Writes the `replace:` of a pattern as the body of a C++ function that plans nodes.

The function calls transform/graph_rewriter.h.
"""

from __future__ import annotations

import ast
import json

from codegen.entry import Text, Version
from codegen.passes.language import Writer, in_force
from codegen.passes.pattern import NEWEST, Pattern, Versions, takes

HELPERS = {
    "ints": 1,
    "scalar": 1,
    "real": 1,
    "number": 2,
}  # constants: a list, an integer, a double, a number of a value's type
# Functions of graph_rewriter.h that fold constant weights and factors, with their number of further arguments.
WEIGHTED = {"scaled": 3, "weighed": 2}


def replacement(pattern: Pattern, versions: Versions) -> list[str]:
    """Returns the statements of the function; empty if the pattern has no replacement."""
    return [] if pattern.replace is None else statements(Replacement(pattern, versions), pattern.replace)


def statements(writer: Replacement, written: Text) -> list[str]:
    pattern = writer.pattern
    try:
        module = ast.parse(written.text)
    except SyntaxError as error:
        raise pattern.error(written.line + (error.lineno or 1) - 1, f"not a statement: {error.msg}") from error
    for statement in module.body:
        writer.line = written.line + statement.lineno - 1
        writer.statement(statement)
    left = pattern.roots() - writer.made
    if left:
        raise pattern.error(written.line, f"{pattern.slots[min(left)]} is not made by the replacement")
    return writer.lines


class Replacement(Writer):
    """Writes statements `name = Operator(...)` in order; the last one makes the root's outputs."""

    def __init__(self, pattern: Pattern, versions: Versions):
        super().__init__(pattern, versions)
        self.made: set[int] = set()

    def statement(self, statement: ast.stmt) -> None:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            raise self.fail("a replacement is made of assignments")
        target = statement.targets[0]
        names = [
            one for one in (target.elts if isinstance(target, ast.Tuple) else [target]) if isinstance(one, ast.Name)
        ]
        slots = [self.pattern.slots.index(name.id) if name.id in self.pattern.slots else -1 for name in names]
        if slots and all(slot in self.pattern.roots() for slot in slots):
            self.result(slots, statement.value)
        elif len(names) == 1 and slots == [-1]:
            text, constant = self.argument(statement.value, names[0].id)
            self.lines.append(f"const GraphRewriter::Arg {names[0].id}_ = {text};")
            self.locals[names[0].id] = constant
        else:
            raise self.fail("what is assigned is a new name, or what the last line of the match makes")

    def result(self, slots: list[int], value: ast.expr) -> None:
        self.made |= set(slots)
        outputs = ", ".join(f"Slot{{{slot}}}" for slot in slots)
        if isinstance(value, ast.Call) and self.operator_of(value):
            text, constant = self.call(value, "", f"r.result({{{outputs}}}, ")
            if not constant:
                self.lines.append(f"{text};")
                return
        if len(slots) != 1:
            raise self.fail("several values at once are made by one node")
        self.lines.append(f"r.result({outputs}, {self.argument(value, '')[0]});")

    # -- arguments of operators: C++ text, and True if constant ------------------------------------------------------

    def argument(self, node: ast.expr, local: str) -> tuple[str, bool]:
        if isinstance(node, ast.Name) and node.id in self.locals:
            return f"{node.id}_", self.locals[node.id]
        if isinstance(node, ast.Name):
            slot = self.slot(node)
            return f"r.value({slot})", self.pattern.is_constant(int(slot[5:-1]))
        if isinstance(node, ast.Constant) and node.value is None:
            return "r.left_out()", True
        if isinstance(node, ast.List):
            return f"GraphRewriter::ints({self.expression(node)})", True
        if isinstance(node, ast.IfExp):
            (yes, first), (no, second) = self.argument(node.body, local), self.argument(node.orelse, local)
            return f"({self.expression(node.test)} ? {yes} : {no})", first and second
        if isinstance(node, ast.Call) and self.operator_of(node):
            return self.call(node, local or "made", "")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WEIGHTED:
            return self.weighted(node.func.id, node.args), True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dequantised":
            return self.dequantised(node.args), True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in HELPERS:
            return self.helper(node.func.id, node.args), True
        raise self.fail(f"{ast.unparse(node)} is no argument of an operator")

    def weighted(self, name: str, arguments: list[ast.expr]) -> str:
        if not WEIGHTED[name] <= len(arguments) <= WEIGHTED[name] + 1:
            raise self.fail(f"{name} takes {WEIGHTED[name]} arguments and, if there are some, groups")
        (weights, first), (factors, second) = (self.argument(each, "") for each in arguments[:2])
        if not (first and second):
            raise self.fail(f"what {name} is computed of is constant")
        return f"r.{name}({', '.join([weights, factors, *map(self.expression, arguments[2:])])})"

    def dequantised(self, arguments: list[ast.expr]) -> str:
        if len(arguments) != 4:
            raise self.fail("dequantised takes weights, a scale, a zero point and an axis")
        given = [self.argument(each, "") for each in arguments[:3]]
        if not all(constant for _, constant in given):
            raise self.fail("what dequantised is computed of is constant")
        return f"r.dequantised({', '.join(text for text, _ in given)}, {self.expression(arguments[3])})"

    def helper(self, name: str, arguments: list[ast.expr]) -> str:
        if len(arguments) != HELPERS[name]:
            raise self.fail(f"{name} takes {HELPERS[name]} arguments")
        first = self.expression(arguments[0])
        if name == "ints":
            return f"GraphRewriter::ints({first})"
        if name == "scalar":
            return f"GraphRewriter::scalar({first})"
        value = f"static_cast<double>({first})"
        return f"GraphRewriter::real({value})" if name == "real" else f"r.number({value}, {self.slot(arguments[1])})"

    def operator_of(self, node: ast.Call) -> tuple[str, str] | None:
        domain, _, op = ast.unparse(node.func).rpartition(".")
        return (domain, op) if (domain, op) in self.versions else None

    def call(self, node: ast.Call, local: str, result: str) -> tuple[str, bool]:
        """Writes a call of an operator. `result`: how the call begins if the node makes the root's outputs."""
        domain, op = self.operator_of(node) or ("", "")
        arguments = [self.argument(argument, local) for argument in node.args]
        constant = all(is_constant for _, is_constant in arguments)
        for version in self.in_use(domain, op, constant):
            if not takes(version, len(arguments), len(arguments)):
                raise self.fail(f"{version.name} does not take {len(arguments)} inputs")
        attributes = self.attributes(node, domain, op, constant)
        inputs = ", ".join(text for text, _ in arguments)
        tail = f"{json.dumps(domain)}, {json.dumps(op)}, {{{inputs}}}, {attributes})"
        if constant:
            return f"r.compute({tail}", True
        return (f"{result}{tail}" if result else f'r.node("{local}", {tail}'), False

    def in_use(self, domain: str, op: str, constant: bool) -> list[Version]:
        """Returns possible versions of the node: the newest if it is folded, else all of the pattern's opsets."""
        known = self.versions[domain, op]
        if constant or domain:
            return known[:1]
        first = in_force(known, self.pattern.least)
        if first is None:
            raise self.fail(f"there is no {op} in opset {self.pattern.least}")
        most = min(self.pattern.most, NEWEST)
        return [version for version in known if first.since <= version.since <= most]

    def attributes(self, node: ast.Call, domain: str, op: str, constant: bool) -> str:
        base, own = "", []
        for keyword in node.keywords:
            if keyword.arg is None:
                slot = self.slot(keyword.value)
                makers = self.pattern.makers(int(slot[5:-1]))
                if not makers or any((maker.domain, maker.op) != (domain, op) for maker in makers):
                    raise self.fail(f"{ast.unparse(keyword.value)} is not made by {op}, so its attributes are others")
                base = f"r.attributes({slot})"
                continue
            kinds = set()
            for version in self.in_use(domain, op, constant):
                found = version.attribute(keyword.arg)
                if found is None:
                    raise self.fail(f"{version.name} has no attribute {keyword.arg}")
                kinds.add(found.kind)
            value = self.expression(keyword.value)
            if kinds == {"float"}:
                value = f"static_cast<double>({value})"
            elif not kinds <= {"int", "ints", "string"}:
                raise self.fail(f"attributes of the kind {', '.join(sorted(kinds))} cannot be written")
            own.append(f"{{{json.dumps(keyword.arg)}, attribute({value})}}")
        text = f"{{{', '.join(own)}}}"
        return f"joined({base}, {text})" if base and own else base or text
