"""Runs the benchmark of `make bench`: ten convolutional models, on 1 and 2 threads, with the peers.

python -m tools.bench. The models are made or fetched once (conformance/suites/models.py). Arguments after `--` are
passed to `touchstone bench`: `python -m tools.bench --only resnet50 -- --seconds 10 --roof`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from conformance.suites.models import ModelError, model_file
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


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools.bench", description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="where the command was built")
    parser.add_argument("--only", action="append", choices=list(MODELS), help="one model")
    parser.add_argument("--against", default="onnxruntime,openvino,direct", help="the peers; empty for none")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("rest", nargs="*", metavar="-- OPTION", help="options of `touchstone bench`")
    args = parser.parse_args()
    folder = args.build.resolve() / "timed"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        models = [named_model(name, folder) for name in args.only or MODELS]
    except ModelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 7
    command = [args.build.resolve() / "touchstone", "bench", *models, "--threads", args.threads, "--roof"]
    if args.against:
        command += ["--against", args.against]
    command += ["--expected", folder / "expected", "--json", folder / "bench.json", *args.rest]
    (folder / "bench.json").unlink(missing_ok=True)
    code = subprocess.run([str(word) for word in command], check=False).returncode
    figures = folder / "bench.json"
    if figures.is_file():
        print(f"\n{table_of(json.loads(figures.read_text()))}\n\nfigures: {figures}")
    return code if code >= 0 else 70


if __name__ == "__main__":
    sys.exit(main())
