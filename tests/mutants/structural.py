"""Mutants of the hand-written C++ in reference/structural/: token edits of the source that codegen makes from a
template.

All versions that a template serves are judged together, each case by the entry point of its own version.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass

import jinja2

from codegen.emit_kernels import by_hand, rules_of, template_text
from codegen.entry import Operator, Version
from tests.mutants.cases import Case, chosen
from tests.mutants.emit import Mutant, numbered
from tests.mutants.tokens import edits_of_text, made_by

MAX_OF_A_VERSION = 40  # cases


@dataclass
class Template:
    """A file of reference/structural/, the versions that it serves and the cases that its mutants run."""

    name: str
    versions: list[Version]
    cases: list[Case]

    @property
    def form(self) -> str:
        return "by hand"


def all_templates(operators: list[Operator]) -> list[Template]:
    by_name: dict[str, list[Version]] = defaultdict(list)
    for version in by_hand(operators):
        by_name[version.template].append(version)
    return [Template(name, versions, []) for name, versions in sorted(by_name.items())]


def templates_of(operators: list[Operator], cases: dict[tuple[str, int], list[Case]]) -> list[Template]:
    """The templates that have cases."""
    domains = {id(v): o.domain for o in operators for v in o.versions}
    found = all_templates(operators)
    for template in found:
        own = [cases.get((f"{domains[id(v)]}/{v.op}", v.since), []) for v in template.versions]
        template.cases = [case for each in own for case in chosen(each, MAX_OF_A_VERSION)]
    return [template for template in found if template.cases]


def source_of(template: Template) -> str:
    """The rendered source, without the part that recomputes outputs with a target's own choices for the judge."""
    made = jinja2.Template(template_text(template.name), trim_blocks=True, keep_trailing_newline=True)
    text = made.render(versions=template.versions, rule=rules_of(template.versions), extended=False)
    return text.partition("\nnamespace touchstone::openings {")[0]


def names_of_edits(template: Template) -> list[str]:
    alike: Counter[str] = Counter()
    return [
        f"{template.name}: {numbered(f'{one.text}: {one.change}', alike)}" for one in edits_of_text(source_of(template))
    ]


def mutants_of_template(template: Template, wanted: int, seed: int, match: str = "") -> list[Mutant]:
    """At most `wanted` mutants, drawn by `seed` from those whose identity matches."""
    text, named = source_of(template), names_of_edits(template)
    tokens = list(edits_of_text(text))
    order = [number for number, identity in enumerate(named) if re.search(match, identity)]
    random.Random(f"{seed} {template.name}").shuffle(order)
    entries = {(c.op, c.since): entry_of(template, c) for c in template.cases}
    made = []
    for number in order[:wanted]:
        token, name = tokens[number], f"{template.name}_m{number}"
        own = made_by(text, token).replace(
            "namespace touchstone::structural", f"namespace touchstone::structural_{name}"
        )
        says = f"reference/structural/{template.name}.cc.j2: {token.change} in: {token.text}"
        source = f'#include "reference/kernels/{name}.h"\n'
        made.append(Mutant(name, template.form, says, 0, template.cases, own, source, named[number], entries))
    return made


def entry_of(template: Template, case: Case) -> str:
    op = case.op.rpartition("/")[2]
    return next(v.entry_point for v in template.versions if v.op == op and v.since == case.since)
