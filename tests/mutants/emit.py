"""Generates mutants of an entry as C++ in batches, each of which becomes one library for the runner.

A mutant is a codegen unit whose expression trees were edited once, before the checker ran. An edit that the checker
refuses, or that gives the same kernel, is discarded.
"""

from __future__ import annotations

import functools
import random
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import jinja2

from codegen.emit_kernels import environment
from codegen.entry import Operator, SpecError, Text, Version
from codegen.notation import Expr, Statement
from codegen.parameters import class_of
from codegen.sorts import Checker
from codegen.units import Unit, make_unit, same_kernel
from tests.mutants.cases import Case, by_class, chosen, classes_of
from tests.mutants.edits import Edit, edits_of, edits_of_expression


@dataclass
class Subject:
    """A kernel of the spec and the cases that its mutants run."""

    operator: Operator
    versions: list[Version]
    cases: list[Case]

    @property
    def form(self) -> str:
        return self.versions[0].form

    @property
    def name(self) -> str:
        return self.versions[0].name


@dataclass
class Mutant:
    name: str
    form: str
    says: str  # "spec/ops/..:38: + -> - in: ..."
    opset: int  # 0: each case's own
    cases: list[Case]
    header: str
    source: str
    identity: str = ""  # "Clip-11: let raised: < -> <="
    # for a template: (operator, version) -> entry point
    entries: dict[tuple[str, int], str] = field(default_factory=dict)

    @property
    def runs(self) -> dict[str, str]:
        """Names in the library's table -> C++ functions."""
        if not self.entries:
            return {self.name: f"touchstone::native::run_{self.name}"}
        space = f"touchstone::structural_{self.name}"
        return {f"{self.name}/{entry}": f"{space}::run_{entry}" for entry in sorted(set(self.entries.values()))}


@dataclass
class Edited:
    """Makes checkers that apply one edit, given by its number; with -1 they apply none and count all edits."""

    number: int
    count: int = 0
    done: Edit | None = None
    named: list[str] = field(default_factory=list)  # every edit so far: "let raised: < -> <="
    alike: Counter[str] = field(default_factory=Counter)

    def checker(self) -> type[Checker]:
        outer = self

        class Mutating(Checker):
            def statements_of(self, v: Version) -> list[Statement]:
                made = super().statements_of(v)
                outer.apply(edits_of(made))
                return made

            def parsed(self, text: Text) -> Expr:
                made = [super().parsed(text)]
                if not any(text is rule.that for rule in self.v.rules):  # edits of rules change refusals, not values
                    outer.apply(edits_of_expression(made[0], lambda e: made.__setitem__(0, e), text.line, text.text))
                return made[0]

        return Mutating

    def apply(self, edits: Iterable[Edit]) -> None:
        for edit in edits:
            self.named.append(numbered(f"{edit.definition}: {edit.change}", self.alike))
            if self.count == self.number:
                self.done = edit
                edit.make()
                self.count += 1
                return
            self.count += 1


def numbered(name: str, alike: Counter[str]) -> str:
    """Appends " #2" to the second use of a name, and so on."""
    alike[name] += 1
    return f"{name} #{alike[name]}" if alike[name] > 1 else name


def subjects_of(operators: list[Operator], cases: dict[tuple[str, int], list[Case]]) -> list[Subject]:
    found = []
    for operator in operators:
        own = [c for key, of in cases.items() if key[0] == f"{operator.domain}/{operator.op}" for c in of]
        for versions in kernels_of(operator):
            taken = chosen(by_class([c for c in own if fits(c, versions)], versions[0]))
            if taken:
                found.append(Subject(operator, versions, taken))
    return found


def kernels_of(operator: Operator) -> list[list[Version]]:
    """The versions that each of the operator's kernels serves, oldest first."""
    kernels: dict[str, list[Version]] = {}
    for version in reversed(operator.versions):
        if version.kind == "semantics":
            kernels.setdefault(same_kernel(version), []).append(version)
    return list(kernels.values())


def fits(case: Case, versions: list[Version]) -> bool:
    """True if these versions allow the types of a case's inputs, of any version; the runner checks the rest."""
    inputs = versions[0].inputs
    for k, element in enumerate(case.types):
        if k >= len(inputs) and not (inputs and inputs[-1].variadic):
            return False
        of = inputs[min(k, len(inputs) - 1)].type
        if element and not any(element in v.types.get(of, [of]) for v in versions):
            return False
    return bool(case.types) == bool(inputs)


def narrowed(versions: list[Version], cases: list[Case]) -> list[Version]:
    """The versions without types that no case has, since each type is a kernel to compile."""
    seen: dict[str, set[str]] = {}
    for case in cases:
        for name, of in classes_of(case, versions[0]).items():
            seen.setdefault(name, set()).add(of)
    return [
        replace(v, types={
            name: [t for t in allowed if name not in seen or class_of(t) in seen[name]] or allowed
            for name, allowed in v.types.items()
        })
        for v in versions
    ]  # fmt: skip


@functools.lru_cache(maxsize=1)
def templates() -> jinja2.Environment:
    return environment()


def written(unit: Unit, subject: Subject) -> tuple[str, str]:
    """Header and source of a unit. Removes #line, so that a compiler error names the mutant's own file."""
    env = templates()
    header = env.get_template("kernel.h.j2").render(unit=unit, v=unit.meaning.version)
    source = env.get_template("native.cc.j2").render(units=[unit], operator=subject.operator)
    return re.sub(r"(?m)^#line .*\n", "", header), source


def with_edits(versions: list[Version], known: dict[str, int]) -> tuple[Unit, list[str]]:
    """An unedited kernel, and the identities of all its edits, by their numbers."""
    counting = Edited(-1)
    unit = make_unit(versions, known, counting.checker())
    return unit, [f"{versions[0].name}: {name}" for name in counting.named]


def mutants_of(subject: Subject, known: dict[str, int], wanted: int, seed: int, match: str = "") -> list[Mutant]:
    """At most `wanted` mutants, drawn by `seed` from all edits that change the kernel and whose identity matches."""
    versions = narrowed(subject.versions, subject.cases)
    original, named = with_edits(versions, known)
    original.label = "_m"
    seen = {written(original, subject)}
    order = [number for number, identity in enumerate(named) if re.search(match, identity)]
    random.Random(f"{seed} {subject.name}").shuffle(order)
    made: list[Mutant] = []
    for number in order:
        if len(made) == wanted:
            break
        edited = Edited(number)
        try:
            unit = make_unit(versions, known, edited.checker())
        except (SpecError, KeyError, IndexError, AttributeError, TypeError):
            continue  # the sorts do not fit, or codegen's assumptions no longer hold
        unit.label = "_m"
        text = written(unit, subject)
        if text in seen or edited.done is None:
            continue
        seen.add(text)
        unit.label = f"_m{number}"
        header, source = written(unit, subject)
        says = f"{versions[0].path}:{edited.done.line}: {edited.done.says}"
        since, identity = versions[0].since, named[number]
        made.append(Mutant(unit.name, subject.form, says, since, subject.cases, header, source, identity))
    return made


def write_batch(mutants: list[Mutant], folder: Path) -> Path:
    """Writes one source file with all mutants and the table that the runner reads."""
    (folder / "reference" / "kernels").mkdir(parents=True, exist_ok=True)
    for m in mutants:
        (folder / "reference" / "kernels" / f"{m.name}.h").write_text(m.header, encoding="utf-8")
    rows = "".join(f'    {{"{name}", &{function}}},\n' for m in mutants for name, function in m.runs.items())
    text = "\n".join(m.source for m in mutants)
    text += (
        '\n#include "tests/mutants/mutant.h"\n\n'
        f'extern "C" const touchstone::Mutant touchstone_mutants[] = {{\n{rows}    {{nullptr, nullptr}}}};\n'
    )
    file = folder / "batch.cc"
    file.write_text(text, encoding="utf-8")
    return file


def faithful_of(subject: Subject, known: dict[str, int]) -> Mutant:
    """The unedited kernel with every Sum replaced by Ordered; a compiler flag selects the order
    (tests/mutants/orders.h).
    """
    versions = narrowed(subject.versions, subject.cases)
    unit = make_unit(versions, known)
    unit.label = "_faithful"
    header, source = written(unit, subject)
    header = re.sub(r"\bSum<", "Ordered<", header)
    return Mutant(unit.name, subject.form, "", versions[0].since, subject.cases, header, source)
