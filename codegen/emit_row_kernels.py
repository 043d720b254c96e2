"""Writes row kernels (row_kernels): fast kernels in plain C++ for single-precision definitions without a Halide kernel.

python -m codegen.emit_row_kernels --spec spec --out generated [--unfit]
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
from codegen.load import load_spec
from codegen.row_expressions import Expressions
from codegen.row_kernels import RowKernel
from codegen.units import Unit, primitives, units_of
from codegen.write import run_emitter, write_if_changed

HERE = Path(__file__).parent
SHARDS = 16  # files that include the per-entry sources: CMake must know their number when it configures


@dataclass
class Products:
    row_kernels: list[RowKernel] = field(default_factory=list)
    expressions: Expressions = field(default_factory=Expressions)
    unfit: list[tuple[str, str]] = field(default_factory=list)  # version, reason


def offered(root: Path = HERE.parent) -> set[str]:
    """Returns the names of the primitives that expressions can call, parsed from optimized/kernels/rows/lanes.h."""
    text = (root / "optimized" / "kernels" / "rows" / "lanes.h").read_text()
    return set(re.findall(r"^inline float (\w+)\(float", text, re.MULTILINE))


def row_kernel_of(unit: Unit, expressions: Expressions, primitives: set[str]) -> RowKernel:
    """Returns the row kernel of a unit. Raises Unfit."""
    if unit.cast or unit.wholes:
        raise Unfit("nothing is computed, or the type of the output is known only at a call")
    if not unit.movement.computed and not any(p.type in unit.types for p in unit.meaning.version.outputs):
        raise Unfit("it computes with no element")
    kernel = RowKernel(unit, expressions, primitives)
    if not kernel.floats and not any(p.type == "float" for p in unit.meaning.version.inputs):
        raise Unfit("it is never of float")
    if unit.movement.moved & set(unit.templates):
        raise Unfit("elements are moved")
    kernel.run()
    if not kernel.fast:
        raise Unfit("no expression computes")
    beside = {p.name for p in unit.meaning.version.outputs[1:]}
    if kernel.slow - beside:
        raise Unfit("its sums jump: they would be taken element by element, as the reference does")
    return kernel


def products_of_row_kernels(operators: list[Operator], spec: Path) -> Products:
    known, lanes, made = primitives(spec), offered(), Products()
    halide = {f.name: f.unit for f in products_of(operators, spec).fast}
    for operator in operators:
        for unit in units_of(operator, known):
            # Halide kernels in a chain accept only constant scalars, so a unit with a scalar input gets a row kernel
            # too.
            if unit.name in halide and not unit.meaning.scalars:
                continue
            try:
                made.row_kernels.append(row_kernel_of(unit, made.expressions, lanes))
            except Unfit as reason:
                made.unfit += [(v.name, str(reason)) for v in unit.versions]
    return made


def mask(row_kernel: RowKernel, ports: list[Any]) -> str:
    """Returns a bit mask (hexadecimal) of the ports that must be float for this kernel; a variadic port sets all bits
    from its own up."""
    bits = 0
    for k, p in enumerate(ports):
        if p.type in row_kernel.floats:
            bits |= (2**64 - 2**k) if p.variadic else 2**k
    return f"{bits:#x}"


def float_arguments(row_kernel: RowKernel) -> list[tuple[str, bool]]:
    """Returns the constraints that are template parameters, each with True if it must be float and False if any of its
    types runs."""
    return [(n, n in row_kernel.floats) for n in row_kernel.u.templates]


def emit(operators: list[Operator], spec: Path, out: Path) -> Products:
    env, made = environment(), products_of_row_kernels(operators, spec)
    env.globals.update(mask=mask, float_arguments=float_arguments)

    def write(name: str, template: str, **names: Any) -> None:
        write_if_changed(out / "optimized" / name, env.get_template(f"{template}.j2").render(**names))

    shards: list[list[RowKernel]] = [[] for _ in range(SHARDS)]
    for row_kernel in made.row_kernels:
        shards[crc32(row_kernel.u.name.encode()) % SHARDS].append(row_kernel)
        write(f"{row_kernel.u.name}_rows.h", "row_kernel.h", row_kernel=row_kernel, unit=row_kernel.u)
    for k, shard in enumerate(shards):
        write(f"row_kernels_{k}.cc", "row_kernels.cc", shard=shard)
    expressions = made.expressions
    write("row_expressions.cc", "row_expressions.cc", rows=list(expressions.rows), operands=expressions.operands)
    write("row_kernel_registry.cc", "row_kernel_registry.cc", row_kernels=made.row_kernels)
    return made


if __name__ == "__main__":
    sys.exit(
        run_emitter(
            __doc__,
            lambda spec, out: emit(load_spec(spec), spec, out),
            lambda spec: products_of_row_kernels(load_spec(spec), spec).unfit,
        )
    )
