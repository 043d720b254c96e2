"""Copies the standard's message definitions from the installed onnx wheel into a package of our own.

The package is renamed so that one process can hold our copy and those of onnx, torch and ONNX Runtime.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "touchstone_onnx"
FILES = {"onnx-ml.proto": "touchstone_onnx.proto", "onnx-data.proto": "touchstone_onnx_data.proto"}
LITE = "option optimize_for = LITE_RUNTIME;"


def private_copy(text: str) -> str:
    """Returns the same messages in our package, for the lite runtime."""
    renamed = text.replace("package onnx;", f"package {PACKAGE};")
    if renamed == text:
        raise SystemExit("the definitions of this onnx wheel do not declare 'package onnx;'")
    renamed = renamed.replace('import "onnx/onnx-ml.proto";', f'import "{FILES["onnx-ml.proto"]}";')
    return renamed if LITE in renamed else f"{renamed}\n{LITE}\n"


def main(folder: Path) -> None:
    spec = find_spec("onnx")
    if spec is None or spec.origin is None:
        raise SystemExit("the Python package onnx is missing: make setup installs it")
    wheel = Path(spec.origin).parent
    folder.mkdir(parents=True, exist_ok=True)
    for source, target in FILES.items():
        text = private_copy((wheel / source).read_text(encoding="utf-8"))
        path = folder / target
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
