"""Writes row kernels (nests): fast kernels in plain C++ for single-precision definitions without a Halide kernel.

python -m codegen.emit_nests --spec spec --out generated [--unfit]
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

from codegen.algorithm import Unfit
from codegen.emit_halide import products_of
from codegen.emit_kernels import environment
from codegen.entry import Operator
from codegen.lanes import Terms
from codegen.load import load_spec
from codegen.nests import Nest, nest_of
from codegen.units import primitives, units_of
from codegen.write import run_emitter, write_if_changed

HERE = Path(__file__).parent
SHARDS = 16  # files that include the per-entry sources: CMake must know their number when it configures


@dataclass
class Products:
    nests: list[Nest] = field(default_factory=list)
    terms: Terms = field(default_factory=Terms)
    unfit: list[tuple[str, str]] = field(default_factory=list)  # version, reason


def offered(root: Path = HERE.parent) -> set[str]:
    """Returns the names of the primitives that terms can call, parsed from optimized/nests/lanes.h."""
    text = (root / "optimized" / "nests" / "lanes.h").read_text()
    return set(re.findall(r"^inline float (\w+)\(float", text, re.MULTILINE))


def products_of_nests(operators: list[Operator], spec: Path) -> Products:
    known, lanes, made = primitives(spec), offered(), Products()
    halide = {f.name: f.unit for f in products_of(operators, spec).fast}
    for operator in operators:
        for unit in units_of(operator, known):
            # Halide kernels in a chain accept only constant scalars, so a unit with a scalar input gets a row kernel
            # too.
            if unit.name in halide and not unit.meaning.scalars:
                continue
            try:
                made.nests.append(nest_of(unit, made.terms, lanes))
            except Unfit as reason:
                made.unfit += [(v.name, str(reason)) for v in unit.versions]
    return made


def arrays_of(text: str) -> list[int]:
    """Returns the numbers of the arrays that a term reads."""
    return sorted({int(k) for k in re.findall(r"\ba(\d+)\[x\]", text)})


def numbers_of(text: str) -> list[int]:
    return sorted({int(k) for k in re.findall(r"\bv(\d+)\b", text)})


def mask(nest: Nest, ports: list[Any]) -> str:
    """Returns a bit mask (hexadecimal) of the ports that must be float for this kernel; a variadic port sets all bits
    from its own up."""
    bits = 0
    for k, p in enumerate(ports):
        if p.type in nest.floats:
            bits |= (2**64 - 2**k) if p.variadic else 2**k
    return f"{bits:#x}"


def float_arguments(nest: Nest) -> list[tuple[str, bool]]:
    """Returns the constraints that are template parameters, each with True if it must be float and False if any of its
    types runs."""
    return [(n, n in nest.floats) for n in nest.u.templates]


def emit(operators: list[Operator], spec: Path, out: Path) -> Products:
    env, made = environment(), products_of_nests(operators, spec)
    env.globals.update(mask=mask, arrays_of=arrays_of, numbers_of=numbers_of, float_arguments=float_arguments)

    def write(name: str, template: str, **names: Any) -> None:
        write_if_changed(out / "optimized" / name, env.get_template(f"{template}.j2").render(**names))

    shards: list[list[Nest]] = [[] for _ in range(SHARDS)]
    for nest in made.nests:
        shards[crc32(nest.u.name.encode()) % SHARDS].append(nest)
        write(f"{nest.u.name}_nest.h", "nest.h", nest=nest, unit=nest.u)
    for k, shard in enumerate(shards):
        write(f"nests_{k}.cc", "nests.cc", shard=shard)
    write("nest_terms.cc", "nest_terms.cc", rows=list(made.terms.rows))
    write("nest_registry.cc", "nest_registry.cc", nests=made.nests)
    return made


if __name__ == "__main__":
    sys.exit(
        run_emitter(
            __doc__,
            lambda spec, out: emit(load_spec(spec), spec, out),
            lambda spec: products_of_nests(load_spec(spec), spec).unfit,
        )
    )
