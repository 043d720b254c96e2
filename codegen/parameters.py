"""Derives the parameters of a kernel: their declarations, and their bindings in native and extended precision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.builtins import INDEX, Sort
from codegen.cpp import CPP_TYPES, cpp_name, element_type, quoted
from codegen.entry import SpecError, Version
from codegen.notation import Expr, Statement

if TYPE_CHECKING:
    from codegen.units import Unit


@dataclass
class Parameter:
    """Parameter of a kernel: its declaration, and the C++ that binds it in native and in extended runs."""

    name: str
    declared: str
    native: str
    extended: str


# -- parameters ------------------------------------------------------------------------------------------------------
def parameters_of(unit: Unit) -> tuple[list[Parameter], list[str]]:
    m, v = unit.meaning, unit.meaning.version
    templates = [n for n in unit.types if unit.movement.is_template(n)]
    made: list[Parameter] = []
    for k, p in enumerate(v.inputs):
        if p.name not in unit.movement.read:
            continue
        name = cpp_name(p.name)
        if p.name in unit.movement.index_only:
            made.append(
                Parameter(name, f"const View<const std::int64_t>& {name}", f"bind.indices({k})", f"bind.indices({k})")
            )
            continue
        if p.name in unit.movement.real_only:
            made.append(
                Parameter(
                    name,
                    f"const View<const RealIn<{unit.main}>>& {name}",
                    f"bind.reals({k})",
                    f"bind.template in<S>({k})",
                )
            )
            continue
        element = element_type(p.type, m)
        if p.variadic:
            made.append(
                Parameter(
                    name,
                    f"const std::vector<View<const {element}>>& {name}",
                    f"bind.family<{element}>({k})",
                    f"bind.template family<{extended_of(unit, element)}>({k})",
                )
            )
        else:
            made.append(
                Parameter(
                    name,
                    f"const View<const {element}>& {name}",
                    f"bind.in<{element}>({k})",
                    f"bind.template in<{extended_of(unit, element)}>({k})",
                )
            )
    for a in v.attributes:
        if a.kind == "tensor" and a.name in unit.movement.read:
            element = element_type("@", m)
            made.append(
                Parameter(
                    cpp_name(a.name),
                    f"const View<const {element}>& {cpp_name(a.name)}",
                    f"bind.attribute<{element}>(facts, {quoted(a.name)})",
                    f"bind.template attribute<{extended_of(unit, element)}>(facts, {quoted(a.name)})",
                )
            )
    for name in sorted({s.family for s in walk_all(m.statements) if s.kind == "through"}):
        bound = f"graph_of(call, {quoted(name)})"
        made.append(Parameter(cpp_name(name), f"const NodeGraph& {cpp_name(name)}", bound, bound))
    for name in sorted(unit.movement.followed):
        p = v.output(name)
        k = [o.name for o in v.outputs].index(name)
        element = element_type(p.type, m)
        made.append(
            Parameter(
                f"observed_{name}",
                f"[[maybe_unused]] const View<const {element}>& observed_{name}",
                f"View<const {element}>{{}}",
                f"bind.template observed<{extended_of(unit, element)}>({k})",
            )
        )
    for k, p in enumerate(v.outputs):
        if not any(s.kind == "define" and s.name == p.name for s in walk_all(m.statements)):
            continue
        element = element_type(p.type, m)
        if p.variadic:
            made.append(
                Parameter(
                    cpp_name(p.name),
                    f"const std::vector<View<{element}>>& {cpp_name(p.name)}",
                    f"bind.out_family<{element}>({k}, {unit.plan.outputs[k]}, plan.{p.name}_shape)",
                    "",
                )
            )
            if unit.extended:
                raise SpecError(v.path, p.line, f"{p.name}: a variadic output is moved, not computed")
            continue
        made.append(
            Parameter(
                cpp_name(p.name),
                f"View<{element}> {cpp_name(p.name)}",
                f"bind.out<{element}>({k}, {unit.plan.outputs[k]}, plan.{p.name}_shape)",
                f"bind.template out<{extended_of(unit, element)}>({k}, {unit.plan.outputs[k]}, plan.{p.name}_shape)",
            )
        )
    return made, templates


def extended_of(unit: Unit, element: str) -> str:
    return "S" if element in unit.types and element not in unit.movement.moved_in_extended else element


def walk_all(statements: list[Statement]) -> Iterator[Statement]:
    for s in statements:
        yield s
        yield from walk_all(s.block)


CLASSES = {  # element type -> compute class: one kernel instance per class serves all its types
    "double": "double", "uint64": "std::uint64_t", "bool": "bool", "string": "std::string",
    "complex64": "std::complex<float>", "complex128": "std::complex<double>",
}  # fmt: skip


def class_of(of: str) -> str:
    return CLASSES.get(of) or ("float" if "float" in of else "std::int64_t")


def type_arguments(unit: Unit, constraint: str) -> str:
    """Returns the compute classes with which a constraint's template parameter is instantiated."""
    return ", ".join(dict.fromkeys(class_of(t) for t in unit.types[constraint] if t in CPP_TYPES))


def computed_type(unit: Unit, constraint: str) -> str:
    """Returns C++ of the type whose class a constraint's template parameter gets.

    Elements that are rounded to a type, chosen by an attribute, are computed in double where it is double.
    """
    chosen = {let.name for let in unit.meaning.lets if _is_type_of_attribute(let.value)}

    def rounded_to(e: Expr | None) -> str:
        if e is None:
            return ""
        if e.value == "round_to<>" and e.sort == Sort("element", constraint) and e.args[1].value in chosen:
            return e.args[1].value
        return next(filter(None, map(rounded_to, e.args)), "")

    of = next(filter(None, (rounded_to(s.value) for s in walk_all(unit.meaning.statements))), "")
    own = f"plan.type_{constraint}"
    return f"plan.{cpp_name(of)} == Type::float64 ? Type::float64 : {own}" if of else own


def _is_type_of_attribute(e: Expr) -> bool:
    return e.kind == "call" and e.value == "type" and e.args[0].sort == INDEX


def extended_argument(unit: Unit, constraint: str) -> str:
    """Returns a template argument of the exact and bounded kernels: the extended number S, except for types that are
    only copied, such as bool and string."""
    return "S" if constraint not in unit.movement.moved_in_extended else CPP_TYPES[unit.types[constraint][0]]


def cast_options(unit: Unit) -> str:
    """Returns saturate and rounding of a cast, from the arguments of its convert<>."""
    options = []
    for arg in unit.cast.value.args[1:-1]:
        if arg.kind != "name":
            raise SpecError(
                unit.meaning.version.path, arg.line, "saturate and rounding of a cast are attributes or lets"
            )
        options.append(f"plan.{cpp_name(arg.value)}")
    return ", ".join(options) or "true"


def signature_of(v: Version) -> str:
    domain = "" if v.domain == "ai.onnx" else v.domain
    return f'signature_of("{domain}", "{v.op}", {v.since})'
