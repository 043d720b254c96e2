"""Writes the C++ table of element types, core/type_table.inc, from spec/types.yaml."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import yaml

HEAD = """\
// Written by codegen/emit_types.py from spec/types.yaml.
// TOUCHSTONE_TYPE(enumerator, name, code, bits, is_float, is_integer, is_signed, is_complex)
// TOUCHSTONE_FLOAT(enumerator, bits, precision, bias, is_signed, has_infinity, nan_kind, nan_code, overflow, has_zero,
//                  largest, smallest_normal, smallest_subnormal)
#ifndef TOUCHSTONE_TYPE
#define TOUCHSTONE_TYPE(...)
#endif
#ifndef TOUCHSTONE_FLOAT
#define TOUCHSTONE_FLOAT(...)
#endif
"""
TAIL = """\
#undef TOUCHSTONE_TYPE
#undef TOUCHSTONE_FLOAT
"""
NAN_KINDS = {"ieee", "all_ones", "minus_zero", "none"}
OVERFLOWS = {"infinity", "nan", "largest"}


def cpp(value: bool) -> str:
    return "true" if value else "false"


def enumerator(entry: dict[str, Any]) -> str:
    return entry.get("enumerator", entry["name"])


def type_row(entry: dict[str, Any]) -> str:
    kind = entry["kind"]
    flags = (kind == "float", kind == "integer", entry.get("signed", False), kind == "complex")
    facts = ", ".join(cpp(flag) for flag in flags)
    return f'TOUCHSTONE_TYPE({enumerator(entry)}, "{entry["name"]}", {entry["code"]}, {entry["bits"]}, {facts})'


def hexadecimal(value: float) -> str:
    mantissa, exponent = value.hex().split("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{int(exponent)}"


def float_row(entry: dict[str, Any]) -> str:
    if entry["nan"] not in NAN_KINDS or entry["overflow"] not in OVERFLOWS:
        raise ValueError(f"spec/types.yaml: {entry['name']}: unknown nan or overflow")
    has_zero = entry.get("zero", True)
    least = (1 if has_zero else 0) - entry["bias"]  # exponent of the smallest normal number
    subnormal = least - (entry["precision"] - 1)
    return (
        f"TOUCHSTONE_FLOAT({enumerator(entry)}, {entry['bits']}, {entry['precision']}, {entry['bias']}, "
        f"{cpp(entry['signed'])}, {cpp(entry['infinity'])}, {entry['nan']}, {entry['nan_code']:#x}, "
        f"{entry['overflow']}, {cpp(has_zero)},\n                 "
        f"{hexadecimal(float(entry['largest']))}, 0x1p{least}, 0x1p{subnormal})"
    )


def table(types: list[dict[str, Any]]) -> str:
    rows = [type_row(entry) for entry in types]
    rows += [float_row(entry) for entry in types if entry["kind"] == "float"]
    return HEAD + "\n".join(rows) + "\n" + TAIL


def write_if_changed(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def emit(source: Path, out: Path) -> None:
    types = yaml.safe_load(source.read_text())["types"]
    write_if_changed(out / "core" / "type_table.inc", table(types))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--types", type=Path, default=Path("spec/types.yaml"))
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    emit(args.types, args.out)


if __name__ == "__main__":
    main()
