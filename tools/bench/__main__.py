"""Runs the benchmark of `make bench`: ten convolutional models, or a folder of models, with the peers.

python -m tools.bench. The ten models are made or fetched once (conformance/suites/models.py). Arguments after `--` are
passed to `touchstone bench`: `python -m tools.bench --only resnet50 -- --seconds 10 --roof`.

python -m tools.bench --set DIR benches each .onnx file of a folder (tools/bench/model_set.py).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from conformance.suites.models import ModelError, model_file
from tools.bench import model_set
from tools.bench.table import table_of

ROOT = Path(__file__).resolve().parents[2]
# Name in the report -> recipe. Some models lack input sizes and use a recipe that fixes them.
MODELS = {
    "resnet50": "resnet50",
    "mobilenet_v2": "mobilenet_v2",
    "efficientnet_b0": "efficientnet_b0",
    "densenet121": "densenet121",
    "light_squeezenet": "light_squeezenet",
    "light_inception_v2": "light_inception_v2",
    "light_vgg19": "light_vgg19",
    "ppocr_det": "ppocr_det_sized",
    "ppocr_cls": "ppocr_cls_sized",
    "basic_pitch": "basic_pitch_sized",
}


def named_model(name: str, folder: Path) -> Path:
    """Returns a link to the model whose name is the one in the report."""
    made = model_file(MODELS[name], lambda text: print(text, file=sys.stderr, flush=True))
    link = folder / f"{name}.onnx"
    link.unlink(missing_ok=True)
    link.symlink_to(made)
    return link


def bench_folder(args: argparse.Namespace) -> int:
    if not args.set.is_dir():
        print(f"error: there is no folder '{args.set}'", file=sys.stderr)
        return 7
    peers = model_set.PEERS if args.against is None else [name for name in args.against.split(",") if name]
    options = model_set.Options(
        build=args.build.resolve(),
        against=model_set.installed(peers),
        threads=[int(n) for n in args.threads.split(",")] if args.threads else model_set.numbers_of_threads(),
        rest=args.rest,
    )
    return model_set.bench_set(args.set, args.only, options, options.build / "sets" / args.set.resolve().name)


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools.bench", description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="where the command was built")
    parser.add_argument("--only", action="append", default=[], metavar="MODEL", help="one model; may be repeated")
    parser.add_argument("--against", help="the peers; empty for none (onnxruntime,openvino, and direct for the ten)")
    parser.add_argument("--threads", help="numbers of threads (1,2; of a folder 1 and all)")
    parser.add_argument("--set", type=Path, metavar="DIR", help="the models of a folder, with its inputs.json")
    parser.add_argument("rest", nargs="*", metavar="-- OPTION", help="options of `touchstone bench`")
    args = parser.parse_args()
    if args.set:
        return bench_folder(args)
    if unknown := [name for name in args.only if name not in MODELS]:
        parser.error(f"--only: there is no model {unknown[0]}; the models are {', '.join(MODELS)}")
    folder = args.build.resolve() / "timed"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        models = [named_model(name, folder) for name in args.only or MODELS]
    except ModelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 7
    command = [args.build.resolve() / "touchstone", "bench", *models, "--threads", args.threads or "1,2", "--roof"]
    if against := "onnxruntime,openvino,direct" if args.against is None else args.against:
        command += ["--against", against]
    command += ["--expected", folder / "expected", "--json", folder / "bench.json", *args.rest]
    (folder / "bench.json").unlink(missing_ok=True)
    code = subprocess.run([str(word) for word in command], check=False).returncode
    figures = folder / "bench.json"
    if figures.is_file():
        print(f"\n{table_of(json.loads(figures.read_text()))}\n\nfigures: {figures}")
    return code if code >= 0 else 70


if __name__ == "__main__":
    sys.exit(main())
