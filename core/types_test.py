"""Compares the facts of spec/types.yaml with onnx.TensorProto, numpy and ml_dtypes."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnx.helper
import pytest
import yaml

from codegen import emit_types

TYPES = yaml.safe_load(Path("spec/types.yaml").read_text())["types"]
FLOATS = [entry for entry in TYPES if entry["kind"] == "float"]


def named(entry: dict) -> str:
    return entry["name"]


def test_codes_are_those_of_tensor_proto() -> None:
    ours = {entry["name"].upper(): entry["code"] for entry in TYPES}
    theirs = dict(onnx.TensorProto.DataType.items())
    assert theirs.pop("UNDEFINED") == 0
    assert ours == theirs
    assert [entry["code"] for entry in TYPES] == list(range(1, 29))


@pytest.mark.parametrize("entry", [entry for entry in TYPES if entry["bits"]], ids=named)
def test_bits_and_kind(entry: dict) -> None:
    dtype = onnx.helper.tensor_dtype_to_np_dtype(entry["code"])
    name = entry["name"]
    if entry["bits"] >= 8:
        assert dtype.itemsize * 8 == entry["bits"]
    else:
        info = ml_dtypes.iinfo(dtype) if entry["kind"] == "integer" else ml_dtypes.finfo(dtype)
        assert info.bits == entry["bits"]
    if entry["kind"] == "integer":
        assert entry["signed"] == (not name.startswith("u")) == (int(ml_dtypes.iinfo(dtype).min) < 0)
    assert (entry["kind"] == "complex") == np.issubdtype(dtype, np.complexfloating)


@pytest.mark.parametrize("entry", FLOATS, ids=named)
def test_float_facts(entry: dict) -> None:
    dtype = onnx.helper.tensor_dtype_to_np_dtype(entry["code"])
    info = ml_dtypes.finfo(dtype)
    row = emit_types.float_row(entry)
    normal, subnormal = (float.fromhex(word) for word in row.rstrip(")").split(", ")[-2:])
    assert entry["precision"] == info.nmant + 1
    assert entry["largest"] == float(info.max)
    assert normal == float(info.smallest_normal)
    assert subnormal == float(info.smallest_subnormal)
    assert 2.0 ** -(entry["precision"] - 1) == float(info.eps)
    with np.errstate(all="ignore"):
        special = np.array([np.inf, np.nan, entry["largest"]], dtype=np.float64).astype(dtype).astype(np.float64)
        past = (np.array([info.max], dtype=np.float64) * 2).astype(dtype).astype(np.float64)[0]
    assert entry["infinity"] == bool(np.isinf(special[0]))
    assert (entry["nan"] != "none") == bool(np.isnan(special[1]))
    assert special[2] == entry["largest"]
    assert {"infinity": np.isinf(past), "nan": np.isnan(past), "largest": past == entry["largest"]}[entry["overflow"]]
    code = np.array([entry["nan_code"]], dtype=f"u{max(entry['bits'], 8) // 8}").view(dtype).astype(np.float64)[0]
    assert np.isnan(code) if entry["nan"] != "none" else (code == 0 and np.signbit(code))


def test_the_table_is_written_only_when_its_text_changes(tmp_path: Path) -> None:
    emit_types.emit(Path("spec/types.yaml"), tmp_path)
    table = tmp_path / "core" / "type_table.inc"
    before = table.stat().st_mtime_ns
    emit_types.emit(Path("spec/types.yaml"), tmp_path)
    assert table.stat().st_mtime_ns == before
    assert table.read_text().count("\nTOUCHSTONE_TYPE(") == 28
    assert table.read_text().count("\nTOUCHSTONE_FLOAT(") == 12


def test_an_unknown_overflow_is_refused() -> None:
    with pytest.raises(ValueError, match="float16"):
        emit_types.float_row({**next(entry for entry in FLOATS if entry["name"] == "float16"), "overflow": "wrap"})
