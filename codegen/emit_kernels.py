"""Writes the reference from the spec: a kernel header per definition, native and extended dispatch files per operator,
the index programs and the tables.

python -m codegen.emit_kernels --spec spec --out generated [--list]
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable
from pathlib import Path

import jinja2

from codegen import emit_index_programs
from codegen.cpp import cpp_name, enumerator, quoted
from codegen.entry import Operator, SpecError, Version
from codegen.load import load_spec
from codegen.parameters import cast_options, computed_type, extended_argument, signature_of, type_arguments
from codegen.sharing import share_runs
from codegen.template_sides import with_sides
from codegen.units import Unit, primitives, units_of
from codegen.write import write_if_changed

HERE = Path(__file__).parent


# -- writing ---------------------------------------------------------------------------------------------------------
def environment() -> jinja2.Environment:
    env = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE / "templates"), trim_blocks=True, lstrip_blocks=True,
                             keep_trailing_newline=True, undefined=jinja2.StrictUndefined)  # fmt: skip
    env.globals.update(
        type_arguments=type_arguments,
        computed_type=computed_type,
        cpp_name=cpp_name,
        quoted=quoted,
        enumerator=enumerator,
        extended_argument=extended_argument,
        cast_options=cast_options,
        signature_of=signature_of,
    )
    return env


def by_operator(texts: dict[str, str]) -> str:
    """Returns C++ that selects the text of the node's operator, for a template that serves several operators."""
    (*others, (_, last)) = texts.items()
    chosen = "".join(f'facts.signature().op == "{op}" ? {text} : ' for op, text in others if text != last)
    return chosen + last


def rules_of(versions: list[Version]) -> Callable[[str], str]:
    """Returns a function for templates: rule id -> the arguments of Facts::require after the condition.

    If several operators share a template, C1 is the rule of the operator that runs; SequenceAt/C1 names one operator's
    rule.
    """
    rules = {(v.op, r.id): (r, v.path) for v in reversed(versions) for r in v.rules}

    def rule(identity: str) -> str:
        op, _, id_ = identity.rpartition("/")
        texts = {
            own: (quoted(found.that.text), quoted(found.message), f'"{path}:{found.line}"')
            for (own, each), (found, path) in rules.items()
            if each == id_ and op in ("", own)
        }
        if not texts:
            raise SpecError(versions[0].path, versions[0].line, f"{versions[0].name} has no rule {identity}")
        parts = (by_operator({own: text[k] for own, text in texts.items()}) for k in range(3))
        return ", ".join([f'"{id_}"', *parts])

    return rule


def by_hand(operators: list[Operator]) -> list[Version]:
    return [v for o in operators for v in o.versions if v.template]


def template_file(name: str) -> Path:
    return HERE.parent / "reference" / "structural" / f"{name}.cc.j2"


@functools.cache
def template_text(name: str) -> str:
    return template_file(name).read_text(encoding="utf-8")


def extended_by_hand(operators: list[Operator]) -> list[Version]:
    """Returns the versions whose template is rendered a second time, for the judge."""
    return [v for v in by_hand(operators) if "{% if extended %}" in template_text(v.template)]


def says(v: Version, kind: str) -> bool:
    """True if a version's template has a judge function of this kind: bounded, exact, work, follow."""
    return f"{kind}_{v.entry_point}(" in template_text(v.template)


def source_names(operators: list[Operator]) -> list[str]:
    """Returns the names of the files that emit() writes, without checking any entry: CMake needs them when it
    configures."""
    names = ["registry.cc", "extended_registry.cc", "extended_rulings_registry.cc", "index_programs.cc"]
    for o in operators:
        if any(v.kind == "semantics" for v in o.versions):
            names += [f"native/{o.op}.cc", f"extended/{o.op}.cc"]
    names += sorted({f"structural/{v.template}.cc" for v in by_hand(operators)})
    names += sorted({f"extended/{v.template}.cc" for v in extended_by_hand(operators)})
    return names


HOT_FORMS = ("contract", "window")  # families whose inner loops dominate the run time of models and of the judge
HOT_ROLES = ("dimensions",)  # roles whose kernels are called when plans are made


def hot_names(operators: list[Operator]) -> list[str]:
    """Returns the generated files that are compiled with full optimization."""

    def of(forms: tuple[str, ...], roles: tuple[str, ...] = ()) -> set[str]:
        return {
            o.op
            for o in operators
            if any(v.kind == "semantics" and (v.form in forms or v.fast in roles) for v in o.versions)
        }

    hot = {"native": of(HOT_FORMS, HOT_ROLES), "extended": of(HOT_FORMS)}
    return [name for name in source_names(operators) if Path(name).stem in hot.get(Path(name).parent.name, set())]


def header_of(env: jinja2.Environment, unit: Unit, counted: bool) -> str:
    """Renders a kernel header. If `counted`, #line becomes a comment, so that gcov counts the header's own lines."""
    text = env.get_template("kernel.h.j2").render(unit=unit, v=unit.meaning.version)
    return text.replace("\n#line ", "\n//#line ") if counted else text


def emit(operators: list[Operator], spec: Path, out: Path, counted: bool = False) -> list[Unit]:
    env, known, all_units = environment(), primitives(spec), []
    rows: list[dict] = []
    for operator in operators:
        units = units_of(operator, known, counted)
        if not counted:
            share_runs(each for unit in units for each in [unit, *unit.also, *unit.profiles])
        for unit in units:
            for each in [unit, *unit.also, *unit.profiles]:
                write_if_changed(out / "reference" / "kernels" / f"{each.name}.h", header_of(env, each, counted))
            rows += [{"version": version, "unit": unit} for version in unit.versions]
        if units:
            semantics = [each for unit in units for each in [unit, *unit.profiles]]
            write_if_changed(
                out / "reference" / "native" / f"{operator.op}.cc",
                env.get_template("native.cc.j2").render(units=semantics, operator=operator),
            )
            write_if_changed(
                out / "reference" / "extended" / f"{operator.op}.cc",
                env.get_template("extended.cc.j2").render(
                    units=[u for u in semantics if u.extended], operator=operator
                ),
            )
        all_units += units
    structural, extended = by_hand(operators), extended_by_hand(operators)
    for name in sorted({v.template for v in structural}):
        shared = [v for v in structural if v.template == name]
        write_by_hand(name, shared, False, out / "reference" / "structural" / f"{name}.cc", counted)
    for name in sorted({v.template for v in extended}):
        shared = [v for v in extended if v.template == name]
        write_by_hand(name, shared, True, out / "reference" / "extended" / f"{name}.cc")
    write_if_changed(
        out / "reference" / "registry.cc",
        env.get_template("registry.cc.j2").render(
            rows=[r for r in rows if not r["version"].left_out], structural=[v for v in structural if not v.left_out]
        ),
    )
    write_if_changed(
        out / "reference" / "extended_registry.cc",
        env.get_template("extended_registry.cc.j2").render(
            rows=[r for r in rows if r["unit"].extended], structural=extended, says=says
        ),
    )
    versions = [version for operator in operators for version in operator.versions]
    openings = [(version, question, text.text) for version in versions for question, text in version.open.items()]
    profiles = [row for row in rows if row["unit"].profiles]
    write_if_changed(
        out / "reference" / "extended_rulings_registry.cc",
        env.get_template("extended_rulings_registry.cc.j2").render(rows=profiles, openings=openings),
    )
    write_if_changed(
        out / "reference" / "opaque.cc",
        env.get_template("opaque.cc.j2").render(units=[u for u in all_units if u.extended and u.templates]),
    )
    return all_units


def write_by_hand(name: str, versions: list[Version], extended: bool, file: Path, counted: bool = False) -> None:
    template = jinja2.Template(template_text(name), trim_blocks=True, keep_trailing_newline=True)
    text = template.render(versions=versions, rule=rules_of(versions), extended=extended)
    if counted:
        text = with_sides(text, template_text(name), f"reference/structural/{name}.cc.j2")
    write_if_changed(file, text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--counted", action="store_true", help="kernels that gcov can tell the spec's clauses apart in")
    parser.add_argument("--list", action="store_true", help="print the files that would be written, and stop")
    parser.add_argument(
        "--list-hot", action="store_true", help="print those worth the compiler's full effort, and stop"
    )
    args = parser.parse_args()
    try:
        operators = load_spec(args.spec)
        if args.list:
            print(";".join(source_names(operators)))
        elif args.list_hot:
            print(";".join(hot_names(operators)))
        else:
            emit(operators, args.spec, args.out, args.counted)
            emit_index_programs.emit(operators, args.spec, args.out)
    except SpecError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
