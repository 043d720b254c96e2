"""From the spec to the reference: a kernel header a meaning, a native and a wide dispatch file an operator, and the tables.

    python -m codegen.emit_kernels --spec spec --out generated [--list]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field, replace
from pathlib import Path

import jinja2
import yaml

from codegen import plan as plans
from codegen.builtins import EXACT_PRIMITIVES
from codegen.cpp import CPP_TYPES, Cpp, cpp_name, element_type, enumerator, quoted
from codegen.entry import Operator, SpecError, Version
from codegen.kernel import Kernel, reductions_of
from codegen.load import load_spec
from codegen.moves import Moves
from codegen.notation import Expr, Statement
from codegen.sorts import Meaning, check
from codegen.write import write_if_changed

HERE = Path(__file__).parent


@dataclass
class Parameter:
    """Of a kernel: how it is declared, and how it is bound natively and in the wide readings."""

    name: str
    declared: str
    native: str
    wide: str


@dataclass
class Unit:
    """One kernel and the versions that share it."""

    meaning: Meaning
    versions: list[Version]
    moves: Moves
    types: dict[str, list[str]]  # constraint -> union over the versions
    plan: plans.Plan = field(default_factory=plans.Plan)
    body: list[str] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)
    templates: list[str] = field(default_factory=list)  # constraints that are template parameters, in order
    main: str = "T"
    wholes: dict[str, list[tuple[str, Statement]]] = field(default_factory=dict)
    cast: Statement | None = None
    work: str = "0"

    @property
    def name(self) -> str:
        return f"{self.meaning.version.op}_{self.meaning.version.since}"

    @property
    def computing(self) -> list[str]:
        """The constraints whose types say in what the kernel computes."""
        read = {p.type for p in self.meaning.version.inputs if p.name in self.moves.real_only and p.type in self.types}
        return [n for n in self.types if n in read or n in self.templates]

    @property
    def wide(self) -> bool:
        return not self.moves.exact and self.cast is None


def primitives(spec: Path) -> dict[str, int]:
    facts = yaml.safe_load((spec / "primitives.yaml").read_text())["primitives"]
    two = {"pow", "fmod", "maximum", "minimum", "hypot"}
    return {name: (2 if name in two else 1) for name in [*facts, *EXACT_PRIMITIVES]}


def same_kernel(v: Version) -> str:
    """What must agree for two versions to share a kernel: everything but types and sentences."""
    shape = [(p.name, p.type, str(p.optional), p.variadic, _text(p.default), _text(p.shape), _text(p.element)) for p in [*v.inputs, *v.outputs]]
    attributes = [(a.name, a.kind, repr(a.default)) for a in v.attributes]
    rules = [(r.id, r.that.text, r.message) for r in v.rules]
    constraints = [(n, "one" if len(t) == 1 else "many") for n, t in v.types.items()]
    return repr((v.semantics.text if v.semantics else "", shape, attributes, rules, constraints))


def _text(t) -> str:
    return t.text if t else ""


def units_of(operator: Operator, known: dict[str, int]) -> list[Unit]:
    groups: dict[str, list[Version]] = {}
    for version in reversed(operator.versions):
        if version.kind == "semantics":
            groups.setdefault(same_kernel(version), []).append(version)
    return [make_unit(versions, known) for versions in groups.values()]


def told_apart(v: Version) -> Version:
    """An output that bears an input's name is called out_<name> in the notation and in the kernel."""
    names = {p.name for p in v.inputs}
    outputs = [replace(p, name=f"out_{p.name}") if p.name in names else p for p in v.outputs]
    return replace(v, outputs=outputs)


def make_unit(versions: list[Version], known: dict[str, int]) -> Unit:
    first = told_apart(versions[0])
    meaning = check(first, known)
    types: dict[str, list[str]] = {}
    for version in versions:
        for name, allowed in version.types.items():
            types.setdefault(name, [])
            types[name] += [t for t in allowed if t not in types[name]]
    unit = Unit(meaning, versions, Moves(meaning), types)
    unit.wholes = wholes_of(meaning)
    unit.cast = cast_of(meaning)
    main = first.outputs[0].type
    for p in first.outputs:
        if p.type in types:
            main = p.type
            break
    unit.main = element_type(main, meaning) if main in types or main in CPP_TYPES else "float"
    kernel = Kernel(meaning, unit.main)
    unit.body = [] if unit.cast else kernel.run()
    cpp = Cpp(meaning, at_call=True)
    cpp.used = kernel.cpp.used
    whole_lines = write_wholes(unit, cpp)
    unit.work = work_of(meaning, cpp)
    unit.plan = plans.build(meaning, cpp)
    unit.plan.body += whole_lines
    unit.parameters, unit.templates = parameters_of(unit)
    return unit


# -- whole values: an output that is an input seen under another shape -----------------------------------------------------
def wholes_of(meaning: Meaning) -> dict[str, list]:
    found: dict[str, list] = {}

    def walk(statements: list[Statement]) -> None:
        for s in statements:
            if s.kind == "whole":
                found.setdefault(s.name, []).append(s)
            walk(s.block)

    walk(meaning.statements)
    return found


def write_wholes(unit: Unit, cpp: Cpp) -> list[str]:
    m, lines = unit.meaning, []
    names = [p.name for p in m.version.inputs]

    def walk(statements: list[Statement]) -> None:
        for s in statements:
            if s.kind == "whole":
                source = s.value.args[0] if s.value.kind == "call" else s.value
                if source.kind != "name" or source.value not in names:
                    raise cpp.fail(s.value, "a whole output is an input, or view(input, shape)")
                lines.append(plans.line_of(m, s.line))
                lines.append(f"{s.name}_whole = {names.index(source.value)};")
                if s.value.kind == "call":
                    lines.append(f"{s.name}_shape = {cpp(s.value.args[1])};")
                else:
                    lines.append(f"if ({cpp_name(source.value)}.shape) {s.name}_shape = *{cpp_name(source.value)}.shape;")
            elif s.kind in ("when", "otherwise") and any(inner.kind == "whole" for inner in s.block):
                lines.append(f"if ({cpp(s.value)}) {{" if s.kind == "when" else "else {")
                walk(s.block)
                lines.append("}")

    walk(m.statements)
    return lines


def cast_of(meaning: Meaning) -> Statement | None:
    """A conversion to a type known only at the call is one table-driven function (core/numbers), not a kernel a pair."""
    for s in meaning.statements:
        e = s.value
        if s.kind == "define" and e.kind == "call" and e.value == "convert<>" and e.args[-1].kind != "name":
            return s
    return None


def work_of(meaning: Meaning, cpp: Cpp) -> str:
    """C++ for about how many terms all reductions add up to, for an element of the first output."""
    total = ["1.0"]
    for e in reductions_of(meaning):
        factors = []
        for binder in e.value["binders"]:
            if binder["kind"] == "family":
                factors.append(f"double(size({cpp_name(binder['family'])}))")
                continue
            parts = [binder[k] for k in ("low", "high", "shape") if k in binder]
            if any(p.free for p in parts) or any(not callable_at_plan(p, meaning) for p in parts):
                continue
            if binder["kind"] == "range":
                factors.append(f"double({cpp(binder['high'])} - {cpp(binder['low'])})")
            else:
                factors.append(f"double(count({cpp(binder['shape'])}))")
        if factors:
            total.append(" * ".join(factors))
    return " + ".join(total)


def callable_at_plan(e: Expr, meaning: Meaning) -> bool:
    names = plans.names_in(e)
    return not names & set(meaning.buffers)


# -- parameters ------------------------------------------------------------------------------------------------------
def parameters_of(unit: Unit) -> tuple[list[Parameter], list[str]]:
    m, v = unit.meaning, unit.meaning.version
    templates = [n for n in unit.types if unit.moves.is_template(n)]
    made: list[Parameter] = []
    for k, p in enumerate(v.inputs):
        if p.name not in unit.moves.read:
            continue
        name = cpp_name(p.name)
        if p.name in unit.moves.index_only:
            made.append(Parameter(name, f"const View<const std::int64_t>& {name}", f"bind.indices({k})", f"bind.indices({k})"))
            continue
        if p.name in unit.moves.real_only:
            made.append(Parameter(name, f"const View<const RealIn<{unit.main}>>& {name}", f"bind.reals({k})", f"bind.template in<S>({k})"))
            continue
        element = element_type(p.type, m)
        if p.variadic:
            made.append(Parameter(name, f"const std::vector<View<const {element}>>& {name}", f"bind.family<{element}>({k})", f"bind.template family<{wide_of(unit, element)}>({k})"))
        else:
            made.append(Parameter(name, f"const View<const {element}>& {name}", f"bind.in<{element}>({k})", f"bind.template in<{wide_of(unit, element)}>({k})"))
    for a in v.attributes:
        if a.kind == "tensor" and a.name in unit.moves.read:
            element = element_type("@", m)
            made.append(Parameter(cpp_name(a.name), f"const View<const {element}>& {cpp_name(a.name)}", f"bind.attribute<{element}>(facts, {quoted(a.name)})", f"bind.template attribute<{wide_of(unit, element)}>(facts, {quoted(a.name)})"))
    for name in sorted(unit.moves.followed):
        p = v.output(name)
        k = [o.name for o in v.outputs].index(name)
        element = element_type(p.type, m)
        made.append(Parameter(f"observed_{name}", f"[[maybe_unused]] const View<const {element}>& observed_{name}", f"View<const {element}>{{}}", f"bind.template observed<{wide_of(unit, element)}>({k})"))
    for k, p in enumerate(v.outputs):
        if not any(s.kind == "define" and s.name == p.name for s in walk_all(m.statements)):
            continue
        element = element_type(p.type, m)
        made.append(Parameter(cpp_name(p.name), f"View<{element}> {cpp_name(p.name)}", f"bind.out<{element}>({k}, {unit.plan.outputs[k].replace('type_', 'plan.type_')}, plan.{p.name}_shape)", f"bind.template out<{wide_of(unit, element)}>({k}, {unit.plan.outputs[k].replace('type_', 'plan.type_')}, plan.{p.name}_shape)"))
    return made, templates


def wide_of(unit: Unit, element: str) -> str:
    return "S" if element in unit.types and element not in unit.moves.moved_in_wide else element


def walk_all(statements: list[Statement]):
    for s in statements:
        yield s
        yield from walk_all(s.block)


CLASSES = {  # what elements of a type compute as: one kernel a class serves all its types
    "double": "double", "uint64": "std::uint64_t", "bool": "bool", "string": "std::string",
    "complex64": "std::complex<float>", "complex128": "std::complex<double>",
}  # fmt: skip


def class_of(of: str) -> str:
    return CLASSES.get(of) or ("float" if "float" in of else "std::int64_t")


def type_arguments(unit: Unit, constraint: str) -> str:
    """The classes a constraint's template parameter is instantiated with."""
    return ", ".join(dict.fromkeys(class_of(t) for t in unit.types[constraint] if t in CPP_TYPES))


def wide_argument(unit: Unit, constraint: str) -> str:
    """What a template parameter is in the wide readings: the wide number, but for what is only true or false, or text."""
    return "S" if constraint not in unit.moves.moved_in_wide else CPP_TYPES[unit.types[constraint][0]]


def cast_options(unit: Unit) -> str:
    """saturate and rounding of a cast, from the arguments of its convert<>."""
    options = []
    for arg in unit.cast.value.args[1:-1]:
        if arg.kind != "name":
            raise SpecError(unit.meaning.version.path, arg.line, "saturate and rounding of a cast are attributes or lets")
        options.append(f"plan.{cpp_name(arg.value)}")
    return ", ".join(options) or "true"


def signature_of(v: Version) -> str:
    domain = "" if v.domain == "ai.onnx" else v.domain
    return f'signature_of("{domain}", "{v.op}", {v.since})'


# -- writing ---------------------------------------------------------------------------------------------------------
def environment() -> jinja2.Environment:
    env = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE / "templates"), trim_blocks=True, lstrip_blocks=True,
                             keep_trailing_newline=True, undefined=jinja2.StrictUndefined)  # fmt: skip
    env.globals.update(type_arguments=type_arguments, cpp_name=cpp_name, quoted=quoted, enumerator=enumerator,
                       wide_argument=wide_argument, cast_options=cast_options, signature_of=signature_of)
    return env


def structural_of(operators: list[Operator]) -> list[tuple[Version, str]]:
    return [(v, v.structural) for o in operators for v in o.versions if v.kind == "structural"]


def source_names(operators: list[Operator]) -> list[str]:
    """Files that emit() writes, without checking a single entry: what CMake must know when it configures."""
    names = ["registry.cc", "wide_registry.cc"]
    for o in operators:
        if any(v.kind == "semantics" for v in o.versions):
            names += [f"native/{o.op}.cc", f"wide/{o.op}.cc"]
    names += sorted({f"structural/{name}.cc" for _, name in structural_of(operators)})
    return names


def emit(operators: list[Operator], spec: Path, out: Path) -> list[Unit]:
    env, known, all_units = environment(), primitives(spec), []
    rows: list[dict] = []
    for operator in operators:
        units = units_of(operator, known)
        for unit in units:
            header = env.get_template("kernel.h.j2").render(unit=unit, v=unit.meaning.version)
            write_if_changed(out / "reference" / "kernels" / f"{unit.name}.h", header)
            rows += [{"version": version, "unit": unit} for version in unit.versions]
        if units:
            write_if_changed(out / "reference" / "native" / f"{operator.op}.cc", env.get_template("native.cc.j2").render(units=units, operator=operator))
            write_if_changed(out / "reference" / "wide" / f"{operator.op}.cc", env.get_template("wide.cc.j2").render(units=[u for u in units if u.wide], operator=operator))
        all_units += units
    structural = structural_of(operators)
    for name in sorted({name for _, name in structural}):
        template = jinja2.Template((HERE.parent / "reference" / "structural" / f"{name}.cc.j2").read_text(), keep_trailing_newline=True)
        write_if_changed(out / "reference" / "structural" / f"{name}.cc", template.render(versions=[v for v, n in structural if n == name]))
    write_if_changed(out / "reference" / "registry.cc", env.get_template("registry.cc.j2").render(rows=rows, structural=structural))
    write_if_changed(out / "reference" / "wide_registry.cc", env.get_template("wide_registry.cc.j2").render(rows=[r for r in rows if r["unit"].wide]))
    return all_units


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--list", action="store_true", help="print the files that would be written, and stop")
    args = parser.parse_args()
    operators = load_spec(args.spec)
    if args.list:
        print(";".join(source_names(operators)))
    else:
        emit(operators, args.spec, args.out)


if __name__ == "__main__":
    main()
