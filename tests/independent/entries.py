"""Entries of the spec by domain, operator and opset: loaded and checked by codegen, translated here."""

from __future__ import annotations

import functools
import json
from dataclasses import replace

import jsonschema

from codegen import units
from codegen.entry import Operator, Version
from codegen.load import _operator, load_parts
from codegen.sorts import Checker
from codegen.units import primitives
from codegen.value_types import load_groups
from tests.independent.formats import ROOT
from tests.independent.program import Program
from tests.independent.refusal import Refusal

SPEC = ROOT / "spec"


@functools.cache
def _shared() -> tuple:
    schema = json.loads((SPEC / "schema.json").read_text(encoding="utf-8"))
    return jsonschema.Draft202012Validator(schema), load_groups(SPEC), load_parts(SPEC), primitives(SPEC)


@functools.cache
def operator(domain: str, name: str) -> Operator | None:
    domain = domain or "ai.onnx"
    file = SPEC / "ops" / domain / f"{name}.yaml"
    if not file.exists():
        return None
    validator, groups, parts, _ = _shared()
    made = _operator(file, f"spec/{file.relative_to(SPEC)}", validator, groups)
    for version in made.versions:
        version.parts = parts
    return made


def version_at(domain: str, name: str, opset: int) -> Version:
    found = operator(domain, name)
    for version in found.versions if found else ():
        if version.since <= opset:
            return version
    raise Refusal(f"there is no operator {domain} {name} at opset {opset}", "model/operator")


@functools.cache
def program(domain: str, name: str, since: int) -> Program:
    version = next(v for v in operator(domain, name).versions if v.since == since)
    plain = units.with_distinct_names(replace(version, variant=None))
    return Program(Checker(plain, _shared()[3]).run())
