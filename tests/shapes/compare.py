"""Compares the command's inferred shapes with onnx's own inference, and with the sizes of the actual values.

    python -m tests.shapes.compare --command build/touchstone FOLDER_OR_MODEL ...

Prints the differences, and how many dimensions agree, are known to one side only, or differ.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import onnx.inliner
import onnx.shape_inference

Dims = list[int | str | None]
Shapes = dict[str, Dims | None]


def bare(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model without declared shapes of intermediate values and outputs."""
    out = onnx.ModelProto()
    out.CopyFrom(model)
    del out.graph.value_info[:]
    for value in out.graph.output:
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    return out


def symbolic(model: onnx.ModelProto) -> tuple[onnx.ModelProto, dict[str, int]]:
    """Replaces every input size but 0 and 1 by a symbol, equal sizes by the same; also returns symbol -> size."""
    out = bare(model)
    sizes: dict[str, int] = {}
    fixed = {tensor.name for tensor in out.graph.initializer}
    for value in out.graph.input:
        if value.name in fixed or not value.type.HasField("tensor_type"):
            continue
        for dim in value.type.tensor_type.shape.dim:
            if dim.HasField("dim_value") and dim.dim_value > 1:
                size = dim.dim_value
                dim.dim_param = f"s{size}"
                sizes[f"s{size}"] = size
    return out, sizes


def declared(value: onnx.ValueInfoProto) -> Dims | None:
    if not value.type.HasField("tensor_type") or not value.type.tensor_type.HasField("shape"):
        return None
    dims: Dims = []
    for dim in value.type.tensor_type.shape.dim:
        kind = dim.WhichOneof("value")
        dims.append(dim.dim_value if kind == "dim_value" else dim.dim_param if kind == "dim_param" else None)
    return dims


def of_onnx(model: onnx.ModelProto) -> tuple[Shapes, str]:
    """The shapes that onnx infers, and its error message in strict mode, or ""."""
    failed = ""
    try:
        found = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except Exception as error:  # it raises errors of several types
        failed = str(error).strip().splitlines()[0]
        found = onnx.shape_inference.infer_shapes(model, data_prop=True)
    return {value.name: declared(value) for value in [*found.graph.value_info, *found.graph.output]}, failed


def of_command(command: Path, model: onnx.ModelProto, folder: Path) -> tuple[dict[str, Any], str]:
    file = folder / "bare.onnx"
    onnx.save(model, file)
    ran = subprocess.run([command, "show", file, "--shapes", "--json"], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        return {}, f"exit {ran.returncode}: {ran.stderr.strip().splitlines()[0] if ran.stderr.strip() else ''}"
    return json.loads(ran.stdout), ""


def main_shapes(shown: dict[str, Any]) -> Shapes:
    return {row["name"]: row["shape"] for row in shown.get("shapes", []) if row["path"] == ""}


def is_known(dim: int | str | None) -> bool:
    """True for a number or an expression of named symbols."""
    return dim is not None and not (isinstance(dim, str) and ("?" in dim or dim.startswith("unk__")))


def weigh(ours: Dims | None, theirs: Dims | None) -> Iterator[str]:
    """One verdict a dimension: agree, both unknown, more, less, differ."""
    if ours is None or theirs is None:
        known = ours if theirs is None else theirs
        if known is not None:
            for dim in known or ["?"]:
                yield ("more" if theirs is None else "less") + ("" if is_known(dim) or not known else " (rank)")
        else:
            yield "both unknown"
    elif len(ours) != len(theirs):
        yield "differ"
    else:
        for mine, other in zip(ours, theirs, strict=True):
            if not is_known(mine) or not is_known(other):
                yield "more" if is_known(mine) else "less" if is_known(other) else "both unknown"
            else:
                yield "agree" if mine == other else "differ"


def compare(command: Path, model: onnx.ModelProto, folder: Path) -> tuple[Counter[str], list[str]]:
    """Verdicts on every node output of the main graph, and a line for each disagreement."""
    model = bare(model)
    theirs, failed = of_onnx(model)
    shown, refused = of_command(command, model, folder)
    counts: Counter[str] = Counter()
    lines = []
    if failed:
        counts["onnx fails"] += 1
        lines.append(f"onnx fails: {failed}")
    if refused:
        counts["refused"] += 1
        return counts, [*lines, f"refused: {refused}"]
    ours = main_shapes(shown)
    for node in model.graph.node:
        for name in filter(None, node.output):
            verdicts = Counter(weigh(ours.get(name), theirs.get(name)))
            counts.update(verdicts)
            counts[f"{node.op_type} less"] += verdicts["less"] + verdicts["less (rank)"]
            if set(verdicts) - {"agree", "both unknown"}:
                lines.append(
                    f"{'/'.join(sorted(verdicts))}: {node.op_type} {name}: {ours.get(name)}, onnx {theirs.get(name)}"
                )
    return +counts, lines


def at(form: int | str, sizes: dict[str, int]) -> int:
    if isinstance(form, int):
        return form
    return int(eval(form, {"floor": math.floor, "__builtins__": {}}, dict(sizes)))  # noqa: S307: our own command wrote it


def compare_sizes(command: Path, model: onnx.ModelProto, folder: Path) -> tuple[Counter[str], list[str]]:
    """Compares size expressions, evaluated at the symbols' sizes, with the shapes at those sizes."""
    named, sizes = symbolic(model)
    counts: Counter[str] = Counter()
    if not sizes:
        return counts, []
    fixed, refused = of_command(command, bare(model), folder)
    free, refused_too = of_command(command, named, folder)
    if refused or refused_too:
        return Counter(["refused"]), [refused or refused_too]
    lines = []
    assumed = free["shape_notes"]
    true, forms = main_shapes(fixed), main_shapes(free)
    for node in model.graph.node:
        for name in filter(None, node.output):
            dims, wanted = forms.get(name), true.get(name)
            if wanted is None:
                continue
            if dims is None or len(dims) != len(wanted):
                counts["unknown" if dims is None else "wrong"] += max(len(wanted), 1)
                continue
            for dim, size in zip(dims, wanted, strict=True):
                if not is_known(dim) or not isinstance(size, int):
                    counts["unknown"] += 1
                elif at(dim, sizes) == size:
                    counts["a number" if isinstance(dim, int) else "a form"] += 1
                else:
                    counts["wrong under a note" if assumed else "wrong"] += 1
                    lines.append(f"wrong: {node.op_type} {name}: {dims} at {sizes}, but {wanted} {assumed}")
    return counts, lines


def models_in(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(path.rglob("*.onnx")) if path.is_dir() else [path]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", type=Path, required=True)
    parser.add_argument("--sizes", action="store_true", help="hold forms against sizes instead of against onnx")
    parser.add_argument("paths", type=Path, nargs="+")
    args = parser.parse_args()
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for path in models_in(args.paths):
            model = onnx.load(path, load_external_data=False)
            how = compare_sizes if args.sizes else compare
            counts, lines = how(args.command.resolve(), model, Path(folder))
            total.update(counts)
            for line in lines:
                print(f"{path.parent.name if path.name == 'model.onnx' else path.name}: {line}")
    print(json.dumps(dict(total.most_common()), indent=1), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
