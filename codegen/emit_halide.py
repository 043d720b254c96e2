"""Writes Halide generators, their adapters and their registry for all entries that fit the canonical problem of their
family.

An adapter maps a call to that problem.

python -m codegen.emit_halide --spec spec --out generated [--unfit]
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

from codegen.algorithm import FORMS, HOSTED, Algorithm, Unfit, algorithm_of, kernel_of
from codegen.cpp import cpp_name, quoted
from codegen.emit_kernels import environment
from codegen.entry import Operator
from codegen.load import load_spec
from codegen.units import Unit, primitives, units_of
from codegen.write import run_emitter, write_if_changed

HERE = Path(__file__).parent
SHARDS = 2  # files that include the per-entry sources: CMake must know their number when it configures


@dataclass
class Fast:
    """Unit with a fast kernel; `kernel` names the generator, which units of one operator may share."""

    algorithm: Algorithm
    kernel: str

    @property
    def unit(self) -> Unit:
        return self.algorithm.unit

    @property
    def name(self) -> str:
        return self.algorithm.name

    @property
    def own(self) -> bool:
        return self.kernel == self.name


@dataclass
class Products:
    fast: list[Fast] = field(default_factory=list)
    unfit: list[tuple[str, str]] = field(default_factory=list)  # version, reason
    on_devices: list[Fast] = field(default_factory=list)  # families whose kernels are compiled for devices only
    unfit_on_devices: list[tuple[str, str]] = field(default_factory=list)


def offered(root: Path = HERE.parent) -> set[str]:
    """Returns the names of the primitives that fast kernels have, parsed from optimized/math."""
    text = "".join(file.read_text() for file in sorted((root / "optimized" / "math").glob("*.h")))
    return set(re.findall(r"^inline Expr (\w+)\((?:const )?Expr", text, re.MULTILINE))


def products_of(operators: list[Operator], spec: Path) -> Products:
    """Collects the fast kernels, and the reasons for versions without one, for all families that have a generator."""
    known, math, made = primitives(spec), offered(), Products()
    for operator in operators:
        if not any(v.form in FORMS for v in operator.versions):
            continue
        kernels: dict[str, str] = {}
        others = [v for v in operator.versions if v.form in HOSTED and v.kind != "semantics"]
        made.unfit += [(v.name, f"its meaning is {v.kind}, not notation") for v in others]
        for unit in units_of(operator, known):
            if unit.meaning.version.form not in FORMS:
                continue
            hosted = unit.meaning.version.form in HOSTED
            try:
                algorithm = algorithm_of(unit, math)
            except Unfit as reason:
                unfit = made.unfit if hosted else made.unfit_on_devices
                unfit += [(v.name, str(reason)) for v in unit.versions]
                continue
            fast = Fast(algorithm, kernels.setdefault(algorithm.text, unit.name))
            (made.fast if hosted else made.on_devices).append(fast)
    return made


def adapter_lines(fast: Fast) -> dict[str, list[str]]:
    """Returns the C++ that binds the algorithm's operands, with the names of the reference kernel."""
    a, kernel = fast.algorithm, kernel_of(fast.algorithm)
    kernel.depth = 0
    kernel.hoist_scalars()
    for alias in a.aliases:
        kernel.let(alias)
    decode = kernel.decode(a.statement.lhs)
    target = cpp_name(a.statement.name)
    if a.statement.view:
        target = f"view({target}, {kernel.cpp(a.statement.view)})"
    binder = a.reduction.value["binders"][0] if a.reduction else None
    along = [cpp_name(binder["name"]), kernel.cpp(binder["shape"])] if binder and binder["kind"] == "box" else []
    if binder and binder["kind"] == "range":
        along = [f"{cpp_name(binder['name'])}_at", f"join({kernel.cpp(binder['high'])})"]
        decode = [*decode, f"[[maybe_unused]] const Index {cpp_name(binder['name'])} = {along[0]}[0];"]
    return {
        "bound": kernel.lines,
        "decode": decode,
        "target": [target],
        "binder": along,
    }


def inputs_of(fast: Fast) -> list[tuple[str, int]]:
    """Returns the inputs whose elements the reference kernel reads as floats: C++ name, position."""
    u = fast.unit
    read = u.movement.read - u.movement.index_only
    inputs = enumerate(u.meaning.version.inputs)
    return [(cpp_name(p.name), k) for k, p in inputs if p.name in read and p.type in {*u.templates, "float"}]


def read_on_devices(fast: Fast) -> int:
    """Returns a bit mask of the inputs whose elements the kernel reads. The caller reads the others: numbers, axes."""
    of = {cpp_name(s.name): cpp_name(s.value.args[0].value) for s in fast.algorithm.aliases}
    read = set()
    for operand in fast.algorithm.operands:
        name = operand.base
        while name in of:
            name = of[name]
        read.add(name)
    return sum(1 << k for k, p in enumerate(fast.unit.meaning.version.inputs) if cpp_name(p.name) in read)


def emit(operators: list[Operator], spec: Path, out: Path) -> Products:
    env, made = environment(), products_of(operators, spec)
    env.globals.update(
        adapter_lines=adapter_lines, inputs_of=inputs_of, read_on_devices=read_on_devices, forms=FORMS, quoted=quoted
    )

    def write(name: str, template: str, **names: Any) -> None:
        write_if_changed(out / "optimized" / name, env.get_template(f"{template}.j2").render(**names))

    def about(fast: Fast) -> dict[str, Any]:
        return {"fast": fast, "a": fast.algorithm, "v": fast.unit.meaning.version}

    shards: list[list[Fast]] = [[] for _ in range(SHARDS)]
    for fast in [*made.fast, *made.on_devices]:
        shards[crc32(fast.name.encode()) % SHARDS].append(fast)
        if fast.own:
            sharing = [f for f in [*made.fast, *made.on_devices] if f.kernel == fast.kernel]
            write(f"{fast.name}_generator.cc", "halide_generator.cc", **about(fast), sharing=sharing)
        write(f"{fast.name}_adapter.h", "halide_adapter.h", **about(fast))
    for k, shard in enumerate(shards):
        write(f"generators_{k}.cc", "halide_generators.cc", shard=shard)
        write(f"adapters_{k}.cc", "halide_adapters.cc", shard=shard)
    by_role = [version for operator in operators for version in operator.versions if version.fast]
    write("registry.cc", "halide_registry.cc", fast=made.fast, unfit=made.unfit, by_role=by_role)
    write("device_registry.cc", "halide_device_registry.cc", fast=[*made.fast, *made.on_devices])
    return made


if __name__ == "__main__":
    sys.exit(
        run_emitter(
            __doc__,
            lambda spec, out: emit(load_spec(spec), spec, out),
            lambda spec: (made := products_of(load_spec(spec), spec)).unfit + made.unfit_on_devices,
        )
    )
