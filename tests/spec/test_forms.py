"""Every version with semantics names an operator family, and spec/forms.yaml is the only list of them."""

from __future__ import annotations

from pathlib import Path

import yaml

from codegen.entry import Operator

SPEC = Path(__file__).parents[2] / "spec"
FORMS = yaml.safe_load((SPEC / "forms.yaml").read_text())["forms"]


def test_every_meaning_has_a_known_form(operators: list[Operator]) -> None:
    wrong = [
        f"{v.path}:{v.line}: {v.name} has form '{v.form}'"
        for o in operators
        for v in o.versions
        if v.kind != "none" and v.form not in FORMS
    ]
    assert not wrong, "\n".join(wrong)


def test_a_form_says_what_it_is() -> None:
    assert all(len(text.split()) >= 4 for text in FORMS.values())
