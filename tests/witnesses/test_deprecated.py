"""Versions that only deprecate an operator: the standard's checker refuses a model with it, too."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from codegen.emit_cases import load_releases, make_case, newest_opset
from codegen.entry import Operator, Version
from codegen.load import load_spec
from codegen.witnesses import REFUSED, key
from tests.witnessed import saw

SPEC = Path(__file__).parents[2] / "spec"
GONE = [(o, v) for o in load_spec(SPEC) for v in o.versions if v.deprecated and not v.lived]


@pytest.mark.parametrize(("operator", "version"), GONE, ids=[version.name for _, version in GONE])
def test_no_model_may_use_it(operator: Operator, version: Version) -> None:
    releases = load_releases(SPEC)
    opset = newest_opset(operator, version, releases)
    name, says = next(iter(version.cases.items()))
    model = make_case(version, name, says, opset, ir=8).model
    with pytest.raises(onnx.checker.ValidationError, match="is deprecated"):
        onnx.checker.check_model(model)
    model.opset_import[0].version = version.since - 1
    onnx.checker.check_model(model)
    saw(REFUSED, key(version))
