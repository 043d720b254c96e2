"""Builds units: a kernel and the versions of an operator that share it, with all data that the templates use."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from codegen import plan as plans
from codegen.builtins import COORDINATES, EXACT_PRIMITIVES, REAL, TWO_ARGUMENTS
from codegen.cpp import CPP_TYPES, Cpp, cpp_name, element_type, enumerator
from codegen.data_movement import DataMovement
from codegen.entry import Also, Operator, Version
from codegen.kernel import Kernel, reductions_of
from codegen.notation import Expr, Statement
from codegen.parameters import Parameter, parameters_of
from codegen.sides import Side, Sides
from codegen.sorts import Checker, Meaning


@dataclass
class Unit:
    """Kernel and the versions that share it."""

    meaning: Meaning
    versions: list[Version]
    movement: DataMovement
    types: dict[str, list[str]]  # constraint -> union over the versions
    plan: plans.Plan = field(default_factory=plans.Plan)
    body: list[str] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)
    templates: list[str] = field(default_factory=list)  # constraints that are template parameters, in order
    main: str = "T"
    wholes: dict[str, list[tuple[str, Statement]]] = field(default_factory=dict)
    cast: Statement | None = None
    work: str = "0"
    lanes: list[str] = field(default_factory=list)  # C++ of the shapes of sums that elements have in common
    also: list[Unit] = field(default_factory=list)  # alternative formulas, for the bounded semantics
    profiles: list[Unit] = field(default_factory=list)  # other rulings of its questions, for the judge
    label: str = ""  # distinguishes units of one version
    shares: Unit | None = None  # unit whose run this one reuses (codegen/sharing.py)
    is_reused: bool = False  # True if another unit reuses this one's run
    sides: list[Side] = field(default_factory=list)  # its conditions, if they are instrumented

    @property
    def name(self) -> str:
        version = self.meaning.version
        return f"{version.op}_{version.since}" + (f"_{version.variant.name}" if version.variant else "") + self.label

    @property
    def headers(self) -> list[str]:
        """Headers that few kernels need, so that changing one does not recompile all others."""
        words = words_of(self.meaning.version)
        if self.shares:
            return [f"kernels/{self.shares.name}.h"]
        graphs = any(a.kind == "graph" for a in self.meaning.version.attributes)
        lines = [line for form in [self, *self.also] for line in form.body]
        narrow = any("Narrowly<" in line or "as_seen(" in line for line in lines)
        independent = any("Independent<" in line for line in lines)
        found = ["coordinates.h"] * bool(words & COORDINATES) + ["narrow.h"] * narrow
        return found + ["independent.h"] * independent + ["node_graph.h"] * graphs

    @property
    def members(self) -> list[tuple[str, str, str]]:
        """Type, name and comment of each member; members of the kernel whose run is reused have no type."""
        reused = {(type, name) for type, name, _ in self.shares.plan.members} if self.shares else set()
        return [("" if (t, name) in reused else t, name, comment) for t, name, comment in self.plan.members]

    @property
    def computing(self) -> list[str]:
        """Constraints whose types decide the type of computation. A lone float result has its own, whatever is read.

        Elements that are converted to the type of another constraint before anything is computed have no say.
        """
        if self.main in self.types and self.main not in self.versions[0].types:
            return [self.main]
        return [n for n in self.read if n not in self.converted]

    @property
    def read(self) -> list[str]:
        """Constraints whose elements the kernel reads as numbers."""
        reals = {p.type for p in self.meaning.version.inputs if p.name in self.movement.real_only}
        return [n for n in self.types if n in reals or n in self.templates]

    @property
    def converted(self) -> list[str]:
        """Constraints whose elements are converted to the type of another before anything is computed."""
        foreign = self.movement.converted - self.movement.calculated
        found = [n for n in self.read if n in foreign]
        return found if len(found) < len(self.read) else []

    @property
    def fixed(self) -> list[str]:
        """Concrete types of inputs that are read as reals: a float scale, beside integers."""
        inputs = [p for p in self.meaning.version.inputs if p.name in self.movement.real_only]
        return sorted({p.type for p in inputs if p.type in CPP_TYPES})

    @property
    def formats(self) -> list[str]:
        """C++ of the types in `computing` and `fixed`."""
        return [f"plan.type_{n}" for n in self.computing] + [enumerator(t) for t in self.fixed]

    @property
    def follows_main(self) -> bool:
        """True if only reals occur beside elements of any type.

        Reals then compute in double beside doubles, otherwise in float, whatever type they are read from; elements that
        are no numbers are copied.
        """
        main = self.types.get(self.main, [])
        several = "double" in main and any("float" not in t and t != "double" for t in main)
        return several and self.templates == [self.main] and len(self.formats) > 1

    @property
    def whole(self) -> bool:
        """True if integers of the main type are computed in reals and converted; the judge then bounds them, too."""
        return (
            self.extended
            and self.templates == [self.main]
            and not self.follows_main
            and computes_in_reals(self.meaning, self.main)
        )

    @property
    def extended(self) -> bool:
        """True if the kernel rounds. Kernels that compute in integers alone are judged exactly."""
        floats = any(
            "float" in t or t == "double" for t in [*self.fixed, *(t for n in self.computing for t in self.types[n])]
        )
        return not self.movement.exact and self.cast is None and floats


def primitives(spec: Path) -> dict[str, int]:
    facts = yaml.safe_load((spec / "primitives.yaml").read_text())["primitives"]
    return {**{name: (2 if name in TWO_ARGUMENTS else 1) for name in facts}, **EXACT_PRIMITIVES}


def same_kernel(v: Version) -> str:
    """Returns a key that agrees if two versions can share a kernel: everything except types and documentation."""
    shape = [
        (p.name, p.type, str(p.optional), p.variadic, _text(p.default), _text(p.shape), _text(p.element))
        for p in [*v.inputs, *v.outputs]
    ]
    attributes = [(a.name, a.kind, repr(a.default)) for a in v.attributes if a.name in words_of(v)]
    rules = [(r.id, r.that.text, r.message) for r in v.rules]
    constraints = [(n, "one" if len(t) == 1 else "many") for n, t in v.types.items()]
    others = [(form.name, form.text.text) for form in others_of(v)]
    return repr((v.semantics.text if v.semantics else "", others, shape, attributes, rules, constraints))


def others_of(v: Version) -> list[Also]:
    return [*v.also.values(), *v.profiles.values()]


def words_of(v: Version) -> set[str]:
    """Returns every word of a version's notation. An attribute that is not among them has no effect."""
    texts = [*v.written(), *(r.that.text for r in v.rules), *(form.text.text for form in others_of(v))]
    texts += [_text(t) for p in [*v.inputs, *v.outputs] for t in (p.default, p.shape, p.element)]
    return set(re.findall(r"\w+", " ".join(texts)))


def _text(t: Any) -> str:
    return t.text if t else ""


def units_of(operator: Operator, known: dict[str, int], counted: bool = False) -> list[Unit]:
    """Returns the operator's kernels. If `counted`, conditions are instrumented, and alternatives and rulings are left
    out."""
    groups: dict[str, list[Version]] = {}
    for version in reversed(operator.versions):
        if version.kind == "semantics":
            groups.setdefault(same_kernel(version), []).append(version)
    units = [make_unit(versions, known, sides=Sides(counted)) for versions in groups.values()]
    for unit in units if not counted else []:
        unit.also = [
            make_unit([replace(v, variant=v.also[name]) for v in unit.versions], known)
            for name in unit.versions[0].also
        ]
        for name in unit.versions[0].profiles:
            unit.profiles.append(make_unit([replace(v, variant=v.profiles[name]) for v in unit.versions], known))
    return units


def with_distinct_names(v: Version) -> Version:
    """Renames clashing ports: an output with an input's name becomes out_<name>, an input with an attribute's name
    in_<name>."""
    names = {p.name for p in v.inputs}
    outputs = [replace(p, name=f"out_{p.name}") if p.name in names else p for p in v.outputs]
    inputs = [replace(p, name=f"in_{p.name}") if v.attribute(p.name) else p for p in v.inputs]
    return replace(v, inputs=inputs, outputs=outputs, attributes=[a for a in v.attributes if a.name in words_of(v)])


def with_constraints(v: Version) -> Version:
    """Gives an output of a fixed float type a constraint of its own, TFloat or TDouble, so that extended numbers can be
    stored in it."""
    types, outputs = dict(v.types), []
    for p in v.outputs:
        if p.type in ("float", "double"):
            types[f"T{p.type.capitalize()}"] = [p.type]
            p = replace(p, type=f"T{p.type.capitalize()}")
        outputs.append(p)
    return replace(v, types=types, outputs=outputs)


def make_unit(
    versions: list[Version], known: dict[str, int], checker: type[Checker] = Checker, sides: Sides | None = None
) -> Unit:
    first = with_constraints(with_distinct_names(versions[0]))
    meaning = checker(first, known).run()
    types = {name: list(allowed) for name, allowed in first.types.items()}
    for version in versions:
        for name, allowed in version.types.items():
            types.setdefault(name, [])
            types[name] += [t for t in allowed if t not in types[name]]
    unit = Unit(meaning, versions, DataMovement(meaning), types)
    unit.wholes = wholes_of(meaning)
    unit.cast = cast_of(meaning)
    main = first.outputs[0].type
    for p in first.outputs:
        if p.type in types:
            main = p.type
            break
    unit.main = element_type(main, meaning) if main in types or main in CPP_TYPES else "float"
    kernel = Kernel(meaning, unit.main, unit.movement.real_only, sides)
    unit.body = [] if unit.cast else kernel.run()
    cpp = Cpp(meaning, at_call=True, sides=kernel.cpp.sides)
    cpp.used = kernel.cpp.used
    whole_lines = write_wholes(unit, cpp)
    unit.work = work_of(meaning, cpp)
    unit.lanes = lanes_of(meaning, cpp)
    unit.plan = plans.build(meaning, cpp)
    unit.plan.body += whole_lines
    unit.parameters, unit.templates = parameters_of(unit)
    unit.sides = list(cpp.sides.found.values())
    return unit


# -- whole values: an output that is an input with another shape ------------------------------------------------------
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
                    lines.append(
                        f"if ({cpp_name(source.value)}.shape) {s.name}_shape = *{cpp_name(source.value)}.shape;"
                    )
            elif s.kind in ("when", "otherwise") and any(inner.kind == "whole" for inner in s.block):
                if s.kind == "when" and cpp.sides.counted:
                    lines.append(plans.line_of(m, s.line))
                asks = s.kind == "when"
                lines.append(f"if ({cpp.sides.asked(s.value, cpp(s.value))}) {{" if asks else "else {")
                walk(s.block)
                lines.append("}")

    walk(m.statements)
    return lines


def cast_of(meaning: Meaning) -> Statement | None:
    """Returns a conversion to a type known only at run time: one table-driven function (core/numbers), not a kernel per
    pair."""
    for s in meaning.statements:
        e = s.value
        if s.kind == "define" and e.kind == "call" and e.value in ("convert<>", "bits<>") and e.args[-1].kind != "name":
            return s
    return None


def work_of(meaning: Meaning, cpp: Cpp) -> str:
    """Returns C++ of the approximate number of reduction terms, for an element of the first output."""
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
                factors.append(f"(double({cpp(binder['high'])}) - double({cpp(binder['low'])}))")
            else:
                factors.append(f"double(count({cpp(binder['shape'])}))")
        if factors:
            total.append(" * ".join(factors))
    return " + ".join(total)


def lanes_of(meaning: Meaning, cpp: Cpp) -> list[str]:
    """Returns C++ of the shape of each tensor of sums that the outputs are computed from, as in normalisations."""
    found = []
    for s in meaning.statements:
        if s.kind != "define" or s.name not in meaning.buffers or s.name in meaning.seen:
            continue
        if meaning.buffers[s.name].kind in ("index", "predicate") or not has_sum(s.value):
            continue
        sizes = [item.size for item in s.lhs]
        if all(callable_at_plan(size, meaning) for size in sizes):
            found.append(f"join({', '.join(cpp(size) for size in sizes)})")
    return found


def has_sum(e: Expr) -> bool:
    return (e.kind == "reduce" and e.value["op"] == "sum") or any(has_sum(a) for a in e.args)


# -- integers that are computed in reals ------------------------------------------------------------------------------
def computes_in_reals(meaning: Meaning, of: str) -> bool:
    """True if a branch of integers of type `of` only converts reals to them."""
    found = False

    def walk(statements: list[Statement], integers: bool) -> None:
        nonlocal found
        for s in statements:
            inside = integers or (s.kind == "when" and s.value.kind == "member" and s.value.value == "integers")
            walk(s.block, inside)
            e = s.value
            if integers and s.kind == "define" and e.kind == "call" and e.value == "convert<>":
                found = found or (e.args[0].sort == REAL and e.sort.of == of)

    walk(meaning.statements, False)
    return found


def callable_at_plan(e: Expr, meaning: Meaning) -> bool:
    names = plans.names_in(e)
    return not names & set(meaning.buffers)
