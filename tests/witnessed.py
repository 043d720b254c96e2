"""Tests that hold a version against something not made from its entry say so here, where they have seen it agree.

`touchstone spec --list --json` names them: so each must stand in spec/witnesses.json, which tools/witnesses.py writes. It
runs the tests with TOUCHSTONE_WITNESSED naming a file, and each says there what it saw.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

import onnx.defs

from codegen.witnesses import load_found

SPEC = Path(__file__).parents[1] / "spec"


def in_force(op: str, opset: int, domain: str = "") -> str:
    """The version of an operator at an opset, as spec/witnesses.json names it."""
    since = onnx.defs.get_schema(op, opset, domain).since_version
    return f"{domain}.{op}-{since}" if domain else f"{op}-{since}"


@cache
def listed() -> frozenset[tuple[str, str]]:
    return frozenset((version, witness.kind) for version, rows in load_found(SPEC).items() for witness in rows)


def saw(kind: str, *versions: str) -> None:
    """Something of this kind agreed with the reference about these versions."""
    out = os.environ.get("TOUCHSTONE_WITNESSED")
    if out:
        test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
        with open(out, "a", encoding="utf-8") as file:
            file.writelines(json.dumps([version, kind, test]) + "\n" for version in versions)
        return
    unknown = [f"{version} ({kind})" for version in versions if (version, kind) not in listed()]
    assert not unknown, f"spec/witnesses.json does not name {', '.join(unknown)}: run python -m tools.witnesses"
