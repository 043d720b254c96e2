"""Reads spec/ops into plain data: YAML with lines, validated by schema.json, inheritance and type groups resolved.

A version with `inherits: N` takes every key of version N. Its own inputs, outputs, attributes, types, require, open and
cases are merged into the inherited ones by key. A parameter, an attribute and a rule are again merged by key; null
removes. A list of types whose items begin with + or - edits the inherited list. Every other key replaces the inherited
one, and one kind of semantics replaces any other kind.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema

from codegen.entry import Also, Attribute, Derivative, Operator, Parameter, Rule, SpecError, Text, Version
from codegen.lines import Map, Seq, load, plain
from codegen.value_types import ELEMENTS, Groups, expand, in_order, load_groups

KINDS = ("semantics", "function", "structural", "random")
_MERGED = ("inputs", "outputs", "attributes", "types", "require", "open", "also", "profiles", "cases")
_MERGED_DEEPLY = ("inputs", "outputs", "attributes", "require")
_NOT_INHERITED = ("since", "inherits")
_KNOWN = {*_MERGED, *_NOT_INHERITED, *KINDS, "deprecated", "lived", "all_outputs", "doc", "form", "fast"}


def load_spec(root: Path | str) -> list[Operator]:
    """Returns every operator of the spec at `root`, sorted by domain and name."""
    root = Path(root).resolve()
    validator = jsonschema.Draft202012Validator(json.loads((root / "schema.json").read_text(encoding="utf-8")))
    groups = load_groups(root)
    files = sorted((root / "ops").glob("*/*.yaml"))
    operators = [_operator(file, f"{root.name}/{file.relative_to(root)}", validator, groups) for file in files]
    parts = load_parts(root)
    wanted = root / "versions.txt"  # of a bundle: Clip-13, one a line
    names = set(wanted.read_text(encoding="utf-8").split()) if wanted.exists() else None
    for operator in operators:
        for version in operator.versions:
            version.parts = parts
            version.left_out = names is not None and version.name not in names
    return operators


def load_parts(root: Path) -> dict[str, Text]:
    """Returns the parts of spec/parts.yaml by name; empty if the spec has no such file."""
    file, path = root / "parts.yaml", f"{root.name}/parts.yaml"
    if not file.exists():
        return {}
    document = load(file, path)
    return {name: _block(document, name, path) for name in document}


def _operator(file: Path, path: str, validator: Any, groups: Groups) -> Operator:
    document = load(file, path)
    _validate(document, path, validator)
    if document["op"] != file.stem:
        raise SpecError(path, document.lines["op"], f"the file of {document['op']} is {document['op']}.yaml")
    written: dict[int, Map] = {}
    newest = 0
    for entry in document["versions"]:
        since = entry["since"]
        if newest and since >= newest:
            raise SpecError(
                path, entry.lines["since"], f"version {since} stands below {newest}: newest first, each once"
            )
        newest = since
        written[since] = entry
    resolved: dict[int, Map] = {}
    meaning: dict[int, int] = {}
    for since in written:
        _resolve(since, written, resolved, meaning, path, groups, [])
    versions = []
    for since, entry in resolved.items():
        version = _version(document, entry, path, file.parent.name)
        version.since, version.line, version.meaning_of = since, written[since].line, meaning[since]
        versions.append(version)
    versions.sort(key=lambda version: -version.since)
    return Operator(file.parent.name, document["op"], document["doc"], path, versions, _derivative(document, path))


def _validate(document: Any, path: str, validator: Any) -> None:
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    if error is None:
        return
    line, value = 1, document
    for step in error.absolute_path:
        line = value.lines[step]
        value = value[step]
    raise SpecError(path, line, f"{'.'.join(str(step) for step in error.absolute_path)}: {error.message}".lstrip(": "))


def _resolve(
    since: int,
    written: dict[int, Map],
    resolved: dict[int, Map],
    meaning: dict[int, int],
    path: str,
    groups: Groups,
    chain: list[int],
) -> Map:
    """Returns the version merged with its ancestors, types expanded. Fills `resolved` and, for its semantics,
    `meaning`."""
    if since in resolved:
        return resolved[since]
    entry = written[since]
    chain = [*chain, since]
    kinds = sorted((kind for kind in KINDS if entry.get(kind) is not None), key=lambda kind: entry.lines[kind])
    if len(kinds) > 1:
        raise SpecError(path, entry.lines[kinds[1]], f"{kinds[0]} and {kinds[1]}: a version has one kind of semantics")
    result = Map(entry.line)
    meaning[since] = since if kinds else 0
    if "inherits" in entry:
        parent = entry["inherits"]
        at = entry.lines["inherits"]
        if parent not in written:
            raise SpecError(path, at, f"there is no version {parent} to inherit")
        if parent in chain:
            raise SpecError(path, at, f"versions inherit each other: {' -> '.join(map(str, [*chain, parent]))}")
        result = _resolve(parent, written, resolved, meaning, path, groups, chain).copy()
        if kinds:
            for kind in KINDS:
                result.drop(kind)
        elif not any(kind in entry for kind in KINDS):
            meaning[since] = meaning[parent]
    for key in entry:
        if key in _NOT_INHERITED:
            continue
        if entry[key] is None:
            result.drop(key)
        elif key == "types":
            result.put(key, _types(result.get(key), entry[key], path, groups), entry.lines[key], None)
        elif key in _MERGED and isinstance(entry[key], Map):
            merged = _merge(result.get(key), entry[key], key in _MERGED_DEEPLY)
            result.put(key, merged, entry.lines[key], None)
        else:
            result.take(key, entry)
    resolved[since] = result
    return result


def _merge(inherited: Map | None, own: Map, deeply: bool) -> Map:
    result = inherited.copy() if inherited else Map(own.line)
    for key, value in own.items():
        if value is None:
            result.drop(key)
        elif deeply and isinstance(value, Map):
            result.put(key, _merge(result.get(key), value, False), own.lines[key], None)
        else:
            result.take(key, own)
    return result


def _types(inherited: Map | None, own: Map, path: str, groups: Groups) -> Map:
    result = inherited.copy() if inherited else Map(own.line)
    for name, items in own.items():
        if items is None:
            result.drop(name)
            continue
        edits = [item[0] in "+-" for item in items]
        if any(edits) and (not all(edits) or name not in result):
            raise SpecError(path, own.lines[name], f"{name}: + and - edit an inherited list, all items of it or none")
        types = list(result[name]) if any(edits) else []
        for item, line in zip(items, items.lines, strict=True):
            try:
                members = expand(item.lstrip("+-"), groups)
            except ValueError as error:
                raise SpecError(path, line, str(error)) from error
            twice = [member for member in members if (member in types) != (item[0] == "-")]
            if twice:
                state = "is not there" if item[0] == "-" else "is there already"
                raise SpecError(path, line, f"{name}: {item}: {twice[0]} {state}")
            types = [t for t in types if t not in members] if item[0] == "-" else types + members
        result.put(name, in_order(types), own.lines[name], None)
    return result


def _version(document: Map, entry: Map, path: str, domain: str) -> Version:
    version = Version(domain, document["op"], 0, entry.get("doc", document["doc"]), path=path)
    version.deprecated = entry.get("deprecated", False)
    version.lived = entry.get("lived", False)
    version.all_outputs = entry.get("all_outputs", False)
    version.fast = entry.get("fast", "")
    version.form = entry.get("form", document.get("form")) or ""
    version.types = {name: list(items) for name, items in entry.get("types", {}).items()}
    version.kind = next((kind for kind in KINDS if kind in entry), "none")
    for key, target in (("inputs", version.inputs), ("outputs", version.outputs)):
        parameters = entry.get(key, Map())
        target += [_parameter(name, parameters, version.types, path) for name in parameters]
    attributes = entry.get("attributes", Map())
    version.attributes = [_attribute(name, attributes, path) for name in attributes]
    rules = entry.get("require", Map())
    version.rules = [_rule(name, rules, path) for name in rules]
    if "semantics" in entry:
        version.semantics = _block(entry, "semantics", path)
    version.function = _function(entry, path)
    version.structural = entry.get("structural", "")
    version.random = entry.get("random", "")
    opens = entry.get("open", Map())
    version.open = {name: opens.text(name, path) for name in opens}
    version.also, version.profiles = _forms(entry, "also", path), _forms(entry, "profiles", path)
    version.cases = plain(entry.get("cases", {}))
    version.raw = {key: plain(value) for key, value in entry.items() if key not in _KNOWN}
    return version


def _parameter(name: str, parameters: Map, types: dict[str, list[str]], path: str) -> Parameter:
    facts, line = parameters[name], parameters.lines[name]
    if "type" not in facts:
        raise SpecError(path, line, f"{name} has no type")
    if facts["type"] not in types and facts["type"] not in ELEMENTS:
        inner = facts["type"].replace("(", ",").replace(")", ",").split(",")
        words = [word for word in inner if word]
        if len(words) < 2 or words[-1] not in (*ELEMENTS, *types):
            raise SpecError(
                path, line, f"{name}: '{facts['type']}' is neither a type nor one of the version's constraints"
            )
    result = Parameter(name, facts["type"], line=line)
    optional = facts.get("optional", False)
    result.optional = optional is not False
    if not isinstance(optional, bool):
        result.default = facts.text("optional", path)
    result.variadic = facts.get("variadic", False)
    result.homogeneous = facts.get("homogeneous", True)
    result.least = facts.get("least", 1)
    if not result.variadic and (not result.homogeneous or "least" in facts):
        raise SpecError(path, line, f"{name}: homogeneous and least belong to a variadic parameter")
    if result.variadic and result.optional:
        raise SpecError(path, line, f"{name} is optional or variadic (then `least: 0`), not both")
    result.shape = facts.text("shape", path) if "shape" in facts else None
    result.element = facts.text("element", path) if "element" in facts else None
    return result


_PYTHON: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "string": (str,)}


def _attribute(name: str, attributes: Map, path: str) -> Attribute:
    facts, line = attributes[name], attributes.lines[name]
    if "type" not in facts:
        raise SpecError(path, line, f"{name} has no type")
    kind = facts["type"]
    result = Attribute(name, kind, facts.get("required", False), defined=plain(facts.get("defined", [])), line=line)
    if result.defined and kind != "int":
        raise SpecError(path, line, f"{name}: defined lists what an int may hold")
    if "default" not in facts:
        return result
    if result.required:
        raise SpecError(path, line, f"{name} is required or has a default, not both")
    default = plain(facts["default"])
    many = kind.endswith("s")
    allowed = _PYTHON.get(kind.removesuffix("s"), ())
    values = default if many else [default]
    if not isinstance(values, list) or any(
        not isinstance(value, allowed) or isinstance(value, bool) for value in values
    ):
        raise SpecError(path, line, f"{name}: the default {default!r} is not of type {kind}")
    if kind.startswith("float"):
        values = [float(value) for value in values]
    result.default = values if many else values[0]
    return result


def _rule(name: str, rules: Map, path: str) -> Rule:
    facts, line = rules[name], rules.lines[name]
    for key in ("that", "else"):
        if key not in facts:
            raise SpecError(path, line, f"{name} says no `{key}`")
    return Rule(name, facts.text("that", path), facts["else"], line, facts.get("meaningless", ""))


def _forms(entry: Map, key: str, path: str) -> dict[str, Also]:
    forms = entry.get(key, Map())
    return {name: Also(name, forms[name]["by"], _block(forms[name], "semantics", path)) for name in forms}


def _block(facts: Map, key: str, path: str) -> Text:
    scalar = facts.scalars[key]
    if scalar.style != "|" and ("\n" in scalar.text or scalar.style == ">"):
        raise SpecError(
            path, scalar.line, f"{key} of several lines is a literal block (|), so that its lines keep their numbers"
        )
    return facts.text(key, path)


def _derivative(document: Map, path: str) -> Derivative | None:
    facts = document.get("derivative")
    return None if facts is None else Derivative(facts["since"], _block(facts, "text", path))


def _function(entry: Map, path: str) -> Any:
    """Returns the function as a Text, or as a list of pieces {when: Text or None, text: Text}."""
    value = entry.get("function")
    if not isinstance(value, Seq):
        return None if value is None else _block(entry, "function", path)
    return [
        {"when": piece.text("when", path) if "when" in piece else None, "text": _block(piece, "text", path)}
        for piece in value
    ]
