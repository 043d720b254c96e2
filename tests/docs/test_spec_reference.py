"""spec/reference.md names every function of the notation and every key that an entry may have."""

from __future__ import annotations

import json
import re
from pathlib import Path

from codegen.builtins import BUILTINS, EXACT_PRIMITIVES

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "spec" / "reference.md").read_text(encoding="utf-8")
CODE = " ".join(re.findall(r"`([^`\n]+)`", PAGE))
UNUSED = {"fraction"}  # listed in codegen, without a C++ function and without a use


def missing(names: set[str]) -> set[str]:
    return {name for name in names if not re.search(rf"\b{name}\b", CODE)}


def test_every_function_is_named() -> None:
    assert missing(set(BUILTINS) | set(EXACT_PRIMITIVES)) == UNUSED


def test_every_key_is_named() -> None:
    schema = json.loads((ROOT / "spec" / "schema.json").read_text(encoding="utf-8"))
    definitions = schema["$defs"]
    keys = set(schema["properties"])
    for name in ("version", "parameter", "attribute", "rule", "form"):
        keys |= set(definitions[name]["properties"])
    assert not missing(keys)
