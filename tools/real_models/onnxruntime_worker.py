"""Runs in ONNX Runtime's own environment, as a child: all it knows of this project is the job on its standard input.

The job: {"model": path, "feeds": {name: .pb file}, "out": folder, "optimise": bool}. Every output goes into the folder
as a .pb file, and values.json maps the names of feeds and outputs to files. Standard output is one JSON object.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper


def main() -> None:
    job = json.load(sys.stdin)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if job["optimise"] else level.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(job["model"], options, providers=["CPUExecutionProvider"])
    feeds = {name: numpy_helper.to_array(onnx.load_tensor(file)) for name, file in job["feeds"].items()}
    began = time.monotonic()
    results = session.run(None, feeds)
    seconds = time.monotonic() - began

    out = Path(job["out"])
    out.mkdir(parents=True, exist_ok=True)
    files = dict(job["feeds"])
    for position, (output, value) in enumerate(zip(session.get_outputs(), results, strict=True)):
        file = f"v{position:06}.pb"
        (out / file).write_bytes(numpy_helper.from_array(np.asarray(value), output.name).SerializeToString())
        files[output.name] = file
    (out / "values.json").write_text(json.dumps(files, indent=1))
    print(json.dumps({"runtime": f"ONNX Runtime {onnxruntime.__version__}", "seconds": seconds}))


if __name__ == "__main__":
    main()
