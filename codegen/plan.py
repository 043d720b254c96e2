"""Writes the plan of a definition: a C++ struct of all values decided once per call (attributes, lets, rules, types,
shapes).

The kernel is a member function of the plan, so the names of an entry are the names in the kernel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from codegen.builtins import INDEX, INDICES, REAL, REALS, TEXT, TEXTS
from codegen.cpp import MEMBER_TYPES, Cpp, cpp_name, enumerator, quoted
from codegen.entry import MISSING, Attribute
from codegen.notation import Expr, Statement
from codegen.sorts import Meaning

GETTERS = {INDEX: "integer", REAL: "number", TEXT: "text", INDICES: "integers", REALS: "numbers", TEXTS: "texts"}


@dataclass
class Plan:
    members: list[tuple[str, str, str]] = field(default_factory=list)  # type, name, comment
    body: list[str] = field(default_factory=list)  # body of the constructor
    outputs: list[str] = field(default_factory=list)  # C++ of each output's type, where the plan is `plan`
    types: list[str] = field(default_factory=list)  # body of output_types


def literal(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float):
        return f"{value!r}f" if "e" in repr(value) or "." in repr(value) else repr(value)
    if isinstance(value, list):
        return "{" + ", ".join(literal(v) for v in value) + "}"
    return str(value)


def attribute_value(a: Attribute, sort: Any) -> str:
    default = "" if a.default is MISSING else f", {literal(a.default)}"
    call = f"facts.{GETTERS[sort]}({quoted(a.name)}{default})"
    if sort == REALS:
        return f"as_reals<R>({call})"
    if sort == REAL:
        return f"constant<R>({call})"
    return call


def line_of(meaning: Meaning, line: int, path: str = "") -> str:
    return f'#line {line} "{path or meaning.version.path}"'


def build(meaning: Meaning, cpp: Cpp) -> Plan:
    """Builds the plan. `cpp` writes at call level and collects the used given_X and wanted_X, so the kernel is written
    first."""
    v, plan = meaning.version, Plan()
    for k, p in enumerate(v.inputs):
        many = f"facts.inputs({k})" if p.variadic else f"facts.input({k})"
        plan.body.append(f"[[maybe_unused]] const auto {cpp_name(p.name)} = {many};")
    for k, p in enumerate(v.outputs):
        if p.variadic:
            plan.members.append(("Index", f"{p.name}_count", ""))
            plan.body.append(f"{p.name}_count = facts.outputs({k});")
    lines: list[str] = []
    for a in v.attributes:
        sort = meaning.symbols[a.name].sort
        if sort in GETTERS:
            plan.members.append((MEMBER_TYPES[sort], cpp_name(a.name), ""))
            lines.append(f"{cpp_name(a.name)} = {attribute_value(a, sort)};")
        elif sort.kind == "tensor":
            lines.append(f"[[maybe_unused]] const auto {cpp_name(a.name)} = facts.attribute({quoted(a.name)});")
    for name, binding in type_bindings(meaning).items():
        plan.members.append(("Type", f"type_{name}", ""))
        lines.append(f"type_{name} = {binding};")
    rules = [(rule, [n for n in names_in(rule[1])]) for rule in meaning.rules]
    made: set[str] = {s.name for s in meaning.lets} | {s.name for s in meaning.statements if s.kind == "let"}

    def write_rules(known: set[str]) -> None:
        for rule, names in list(rules):
            if all(n not in made or n in known for n in names):
                identity, that, message, line = rule
                lines.append(line_of(meaning, line))
                shown = "".join(
                    f", {quoted(n)}, {cpp_name(n)}"
                    for n in sorted(names)
                    if n in meaning.symbols and meaning.symbols[n].role != "output"
                )
                asked = cpp.sides.asked(that, cpp(that), "rule")
                lines.append(
                    f"facts.require({asked}, {quoted(identity)}, {quoted(that.text)}, {quoted(message)}, "
                    f"{quoted(f'{v.path}:{line}')}, [&] {{ return values_text({shown[2:]}); }});"
                )
                rules.remove((rule, names))

    known: set[str] = set()
    write_rules(known)
    aliases = [s for s in meaning.statements if s.kind == "let" and s.value.sort.kind == "tensor"]
    for let in sorted([*meaning.lets, *aliases], key=lambda s: s.order):
        lines.append(line_of(meaning, let.line, let.path))
        if let in aliases:
            alias(let, cpp, plan, lines)
        else:
            plan.members.append((MEMBER_TYPES[let.value.sort], cpp_name(let.name), let.text))
            lines.append(f"{cpp_name(let.name)} = {cpp(let.value)};")
        known.add(let.name)
        write_rules(known)
    outputs(meaning, cpp, plan, lines)
    plan.types = type_lines(meaning, cpp)
    for asked in sorted(cpp.used):
        kind, name = asked.split("_", 1)
        plan.members.append(("bool", asked, ""))
        plan.body.append(f"{asked} = {given(meaning, kind, name)};")
    plan.body += lines
    return plan


def type_lines(meaning: Meaning, cpp: Cpp) -> list[str]:
    """Writes a function's body that returns the types of the outputs where attributes and the inputs' types decide
    them, also while shapes are not known. Empty if all types follow from the constraints.
    """
    v = meaning.version
    computed = {p.name: meaning.elements[p.name] for p in v.outputs if p.name in meaning.elements and p.type in v.types}
    if not computed or any(p.variadic for p in v.outputs):
        return []
    lets = {s.name: s for s in (*meaning.lets, *(s for s in meaning.statements if s.kind == "let"))}
    needed: set[str] = set()
    found = set().union(*map(names_in, computed.values()))
    while found:
        needed |= found
        found = set().union(*(names_in(lets[name].value) for name in found if name in lets)) - needed
    written = [
        f"const auto {cpp_name(let.name)} = {cpp(let.value)};"
        for let in sorted((lets[name] for name in needed & lets.keys()), key=lambda s: s.order)
    ]
    types = [cpp(computed[p.name]) if p.name in computed else "Type::undefined" for p in v.outputs]
    written.append(f"return {{{', '.join(types)}}};")
    read = {cpp_name(p.name): f"facts.input({k})" for k, p in enumerate(v.inputs)}
    for a in v.attributes:
        sort = meaning.symbols[a.name].sort
        held = attribute_value(a, sort) if sort in GETTERS else f"facts.attribute({quoted(a.name)})"
        read[cpp_name(a.name)] = held
    read |= {f"type_{name}": binding for name, binding in type_bindings(meaning).items()}
    read |= {asked: given(meaning, *asked.split("_", 1)) for asked in cpp.used}
    words = set(re.findall(r"\w+", " ".join(written)))
    return [f"const auto {name} = {value};" for name, value in read.items() if name in words] + written


def names_in(e: Expr) -> set[str]:
    found = {e.value} if e.kind == "name" else set()
    for a in e.args:
        found |= names_in(a)
    for a in (arm for _, arm in e.value) if e.kind == "match" else ():
        found |= names_in(a)
    if e.kind == "reduce":
        for binder in e.value["binders"]:
            for key in ("low", "high", "shape"):
                if key in binder:
                    found |= names_in(binder[key])
    return found


def alias(let: Statement, cpp: Cpp, plan: Plan, lines: list[str]) -> None:
    """Adds a tensor seen under another shape: its shape is a member, the view itself is made in the kernel."""
    value, name = let.value, cpp_name(let.name)
    if value.kind != "call" or value.value not in ("view", "permuted") or value.args[0].kind != "name":
        raise cpp.fail(value, "a tensor is named by view(X, shape) or permuted(X, order)")
    source = cpp(value.args[0])
    plan.members.append(("IndexVector", f"{name}_seen", let.text))
    lines.append(f"{name}_seen = {cpp(value.args[1])};")
    shape = f"{name}_seen" if value.value == "view" else f"pick(shape({source}), {name}_seen)"
    if value.value == "permuted":
        plan.members.append(("IndexVector", f"{name}_extents", ""))
        lines.append(f"if ({source}.given) {name}_extents = {shape};")
        shape = f"{name}_extents"
    lines.append(f"[[maybe_unused]] const auto {name} = aliased({source}, {shape});")


def given(meaning: Meaning, kind: str, name: str) -> str:
    v = meaning.version
    if kind == "wanted":
        return f"facts.wanted({[p.name for p in v.outputs].index(name)})"
    if v.attribute(name):
        return f"facts.given({quoted(name)})"
    k = [p.name for p in v.inputs].index(name)
    return f"facts.input({k}).given"


def type_bindings(meaning: Meaning) -> dict[str, str]:
    """Returns C++ that finds each constraint's type: that of the first given input with the constraint."""
    v, found = meaning.version, {}
    for name, types in v.types.items():
        inputs = [k for k, p in enumerate(v.inputs) if p.type == name]
        only = enumerator(types[0]) if len(types) == 1 and types[0] in {*ENUMERABLE} else "Type::undefined"
        if inputs:
            found[name] = f"bound_type(facts, {{{', '.join(map(str, inputs))}}}, {only})"
        else:
            found[name] = only
    return found


ENUMERABLE = (
    "float double float16 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool string complex64 complex128 "
    "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz float8e8m0 float6e2m3 float6e3m2 float4e2m1 int4 uint4 "
    "int2 uint2"
).split()


def outputs(meaning: Meaning, cpp: Cpp, plan: Plan, lines: list[str]) -> None:
    v = meaning.version
    for p in v.outputs:
        if p.name in meaning.elements:
            e = meaning.elements[p.name]
            if p.type in v.types:
                lines.append(line_of(meaning, p.line))
                lines.append(f"type_{p.type} = {cpp(e)};")
                plan.outputs.append(f"plan.type_{p.type}")
            else:
                plan.outputs.append(enumerator(p.type))
        else:
            plan.outputs.append(f"plan.type_{p.type}" if p.type in v.types else enumerator(p.type))
        if p.variadic and p.name in meaning.shapes:
            plan.members.append(("std::vector<Shape>", f"{p.name}_shape", "of each"))
            family = next(s.family for s in reversed(meaning.statements) if s.name == p.name)
            lines.append(line_of(meaning, p.line))
            shape = cpp(meaning.shapes[p.name])
            name = cpp_name(family)
            lines.append(
                f"for (Index {name} = 0; {name} < {p.name}_count; ++{name}) {p.name}_shape.push_back({shape});"
            )
        elif p.name in meaning.shapes:
            plan.members.append(("IndexVector", f"{p.name}_shape", ""))
            lines.append(line_of(meaning, p.line))
            lines.append(f"{p.name}_shape = {cpp(meaning.shapes[p.name])};")
