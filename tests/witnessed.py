"""Records agreement of a version with a witness that is independent of its entry; tests call saw() after they compared.

`touchstone spec --list --json` lists these tests, so each must be in spec/witnesses.json. tools/witnesses.py writes
that file: it runs the tests with TOUCHSTONE_WITNESSED set to a file, and each test appends its records there.
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
    """The version of an operator at an opset, in the notation of spec/witnesses.json."""
    since = onnx.defs.get_schema(op, opset, domain).since_version
    return f"{domain}.{op}-{since}" if domain else f"{op}-{since}"


@cache
def listed() -> frozenset[tuple[str, str]]:
    return frozenset((version, witness.kind) for version, rows in load_found(SPEC).items() for witness in rows)


def saw(kind: str, *versions: str) -> None:
    """Records that a witness of this kind agreed with the reference about these versions."""
    out = os.environ.get("TOUCHSTONE_WITNESSED")
    if out:
        test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
        with open(out, "a", encoding="utf-8") as file:
            file.writelines(json.dumps([version, kind, test]) + "\n" for version in versions)
        return
    unknown = [f"{version} ({kind})" for version in versions if (version, kind) not in listed()]
    assert not unknown, f"spec/witnesses.json does not name {', '.join(unknown)}: run python -m tools.witnesses"
