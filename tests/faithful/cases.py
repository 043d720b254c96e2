"""Emits the table as backend-test folders: a case for each operator, type, regime and variant.

Only inputs are written, since the judge needs no expected outputs. The variants of one set of inputs share its files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.faithful.arithmetic import Variant
from tests.faithful.registry import OPERATORS
from tests.faithful.table import FORMS, Row
from tests.faithful.target import PROPERTY
from tests.faithful.values import REGIMES, TYPES, tensor

SUMS = ("forward", "backward", "pairwise", "blocks8", "blocks64", "wide", "fused")
LIBRARIES = ("glibc", "nearest", "simd")
FEW_REGIMES = ("logs", "cancel", "special", "real")  # regimes for the types other than float
IR_VERSION = 14


@dataclass(frozen=True)
class Data:
    """One set of inputs."""

    row: Row
    type: str
    regime: str

    @property
    def name(self) -> str:
        said = f"{self.row.op}-{self.row.opset}" + (f"_{self.row.name}" if self.row.name else "")
        return f"{said}/{self.type}/{self.regime}"

    def inputs(self) -> list[np.ndarray | None]:
        return [self.input(k, each) for k, each in enumerate(self.row.inputs)]

    def input(self, position: int, said: str | np.ndarray | None) -> np.ndarray | None:
        if not isinstance(said, str):
            return said
        role, *shape = said.split()
        return tensor(self.name, str(position), role, tuple(map(int, shape)), self.regime, self.type)


def schema_of(row: Row) -> onnx.defs.OpSchema:
    return onnx.defs.get_schema(row.op, row.opset, "")


def formal(schema: onnx.defs.OpSchema, ports: str, position: int) -> onnx.defs.OpSchema.FormalParameter:
    all_of = getattr(schema, ports)
    return all_of[min(position, len(all_of) - 1)]


def types_for(row: Row) -> list[str]:
    """The float types that the signature allows for the first random input."""
    asked = [k for k, each in enumerate(row.inputs) if isinstance(each, str)]
    if not asked:
        return ["float"]
    allowed = formal(schema_of(row), "inputs", asked[0]).types
    return [name for name in TYPES if f"tensor({name})" in allowed]


def data_of(row: Row) -> Iterator[Data]:
    for name in types_for(row):
        for regime in row.regimes or REGIMES:
            if name == "float" or regime in FEW_REGIMES:
                yield Data(row, name, regime)


def variants_of(row: Row, of: str, regime: str) -> Iterator[Variant]:
    """The first formula in all orders and with all libraries, other formulas in two orders; fewer for types other than
    float.
    """
    computed = OPERATORS[row.op]
    few = of != "float"
    first, *others = [form for form in computed.forms if form not in row.without] or [""]
    yield Variant(form=first)
    if regime == "special" and not few:
        yield Variant(form=first, small="flushed")
    if computed.sums:
        yield from (Variant(sum=each, form=first) for each in SUMS[1:] if not few or each in ("pairwise", "wide"))
    if computed.functions:
        libraries = LIBRARIES[1:2] if few else LIBRARIES
        yield from (
            Variant(libm=each, form=first, sum="pairwise" if computed.sums else "forward") for each in libraries
        )
    for form in others:
        yield Variant(form=form)
        if computed.sums and not few:
            yield Variant(form=form, sum="blocks8", libm="glibc" if computed.functions else "numpy")


def model_of(data: Data, inputs: list[np.ndarray | None], variant: Variant) -> onnx.ModelProto:
    row, schema = data.row, schema_of(data.row)
    names = ["" if each is None else f"x{k}" for k, each in enumerate(inputs)]
    infos, bound = [], {}
    for k, each in enumerate(inputs):
        if each is None:
            continue
        code = helper.np_dtype_to_tensor_dtype(each.dtype)
        bound[formal(schema, "inputs", k).type_str] = code
        infos.append(helper.make_tensor_value_info(names[k], code, each.shape))
    outputs = []
    for k in range(row.outputs):
        port = formal(schema, "outputs", k)
        code = bound.get(port.type_str)
        if code is None:  # a type that no input binds: the constraint's only type, or float
            only = next(iter(port.types)) if len(port.types) == 1 else "tensor(float)"
            code = getattr(onnx.TensorProto, only[len("tensor(") : -1].upper())
        outputs.append(helper.make_tensor_value_info(f"y{k}", code, None))
    node = helper.make_node(row.op, names, [f"y{k}" for k in range(row.outputs)], **row.attributes)
    opsets = [helper.make_opsetid("", row.opset)]
    model = helper.make_model(helper.make_graph([node], "faithful", infos, outputs), opset_imports=opsets)
    model.ir_version = IR_VERSION
    said = {"sum": variant.sum, "libm": variant.libm, "form": variant.form, "small": variant.small}
    helper.set_model_props(model, {PROPERTY: " ".join(f"{key}={value}" for key, value in said.items() if value)})
    return model


def write(forms: Iterable[str], folder: Path, every: int = 1, only: str = "") -> int:
    """Writes every `every`-th case of these operator families, of operators that begin with `only`, and returns how
    many.
    """
    written = seen = 0
    for form, row in ((name, row) for name in forms for row in FORMS[name]() if row.op.startswith(only)):
        domain = OPERATORS[row.op].domain
        for data in data_of(row):
            variants = list(variants_of(row, data.type, data.regime))
            picked = [each for k, each in enumerate(variants, seen) if k % every == 0]
            seen += len(variants)
            if not picked:
                continue
            inputs = data.inputs()
            shared = folder / "inputs" / data.name
            for variant in picked:
                if not all(domain[form](*inputs) for form in ("*", variant.form) if form in domain):
                    continue
                case = folder / form / data.name / str(variant)
                case.mkdir(parents=True)
                (case / "model.onnx").write_bytes(model_of(data, inputs, variant).SerializeToString())
                if not shared.exists():
                    write_inputs(shared, [each for each in inputs if each is not None])
                (case / "test_data_set_0").symlink_to(shared)
                written += 1
    return written


def write_inputs(folder: Path, inputs: list[np.ndarray]) -> None:
    folder.mkdir(parents=True)
    for k, each in enumerate(inputs):
        (folder / f"input_{k}.pb").write_bytes(numpy_helper.from_array(np.array(each, order="C")).SerializeToString())
