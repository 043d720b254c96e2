"""Derivatives against finite differences, which are exact if a graph is linear in each element, and against numpy
formulas.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper

from codegen.emit_derivatives import names_of
from codegen.load import load_spec
from tests.codes.graphs import touchstone
from tests.witnessed import saw

SPEC = Path(__file__).parents[2] / "spec"
TRAINING = "ai.onnx.preview.training"
Arrays = dict[str, np.ndarray]


def model_of(text: str, opset: int) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}, "{TRAINING}": 1]> {text}')


def run(folder: Path, model: onnx.ModelProto, feeds: Arrays) -> subprocess.CompletedProcess[str]:
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    words: list[object] = []
    for name, value in feeds.items():
        (folder / f"{name}.pb").write_bytes(numpy_helper.from_array(value).SerializeToString())
        words += ["--input", f"{name}={folder / name}.pb"]
    return touchstone("run", folder / "model.onnx", *words, "--output-dir", folder)


def outputs(folder: Path, model: onnx.ModelProto, feeds: Arrays) -> list[np.ndarray]:
    done = run(folder, model, feeds)
    assert done.returncode == 0, done.stderr
    return [numpy_helper.to_array(onnx.load_tensor(folder / f"output_{k}.pb")) for k in range(len(model.graph.output))]


def graph(body: str, feeds: Arrays, asked: list[str]) -> str:
    """A graph that computes y of the body, and its derivatives with respect to `asked`."""
    others = [name for name in feeds if name not in asked]
    kinds = {
        np.dtype(np.float64): "double",
        np.dtype(np.float32): "float",
        np.dtype(bool): "bool",
        np.dtype(np.int64): "int64",
    }
    inputs = ", ".join(f"{kinds[v.dtype]}{list(v.shape) if v.ndim else ''} {name}" for name, v in feeds.items())
    element = kinds[feeds[asked[0]].dtype]
    xs, zs = (", ".join(f'"{name}"' for name in names) for names in (asked, others))
    made = ", ".join(f"d_{name}" for name in asked)
    said = f'xs = [{xs}], y = "y"' + (f", zs = [{zs}]" if others else "")
    results = ", ".join(f"{element}[] d_{name}" for name in asked).replace("[]", "")
    return (
        f"g ({inputs}) => ({element} y, {results}) {{ {body} {made} = {TRAINING}.Gradient <{said}> "
        f"({', '.join([*asked, *others])}) }}"
    )


def untyped(text: str, opset: int) -> onnx.ModelProto:
    """The model, with outputs of any rank."""
    model = model_of(text, opset)
    for each in model.graph.output:
        each.type.tensor_type.ClearField("shape")
    return model


def whole(*shape: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float64)


LINEAR: dict[str, tuple[str, Arrays, list[str], int]] = {
    "sums": (
        "s = Add(a, b) t = Sub(s, c) y = Neg(t)",
        {"a": whole(2, 3, seed=1), "b": whole(3, seed=2), "c": whole(2, 1, seed=3)},
        ["a", "b", "c"],
        14,
    ),
    "products": (
        "p = Mul(a, b) y = Mul(p, c)",
        {"a": whole(2, 3, seed=1), "b": whole(1, 3, seed=2), "c": whole(seed=3)},
        ["a", "b", "c"],
        14,
    ),
    "quotient": ("y = Div(a, two)", {"a": whole(4, seed=1), "two": np.array(2.0)}, ["a"], 14),
    "matrices": ("y = MatMul(a, b)", {"a": whole(3, 1, 2, 4, seed=1), "b": whole(2, 4, 3, seed=2)}, ["a", "b"], 13),
    "row": ("y = MatMul(a, b)", {"a": whole(4, seed=1), "b": whole(2, 4, 3, seed=2)}, ["a", "b"], 13),
    "column": ("y = MatMul(a, b)", {"a": whole(2, 3, 4, seed=1), "b": whole(4, seed=2)}, ["a", "b"], 13),
    "dot": ("y = MatMul(a, b)", {"a": whole(4, seed=1), "b": whole(4, seed=2)}, ["a", "b"], 13),
    "gemm": (
        "y = Gemm <alpha = 2.0, beta = 0.5, transA = 1> (a, b, c)",
        {"a": whole(4, 2, seed=1), "b": whole(4, 3, seed=2), "c": whole(3, seed=3)},
        ["a", "b", "c"],
        13,
    ),
    "gemm_turned": (
        "y = Gemm <transB = 1> (a, b)",
        {"a": whole(2, 4, seed=1), "b": whole(3, 4, seed=2)},
        ["a", "b"],
        13,
    ),
    "moves": (
        "t = Transpose <perm = [2, 0, 1]> (a) f = Flatten(t) r = Transpose(f) y = Mul(r, b)",
        {"a": whole(2, 3, 4, seed=1), "b": whole(6, 4, seed=2)},
        ["a", "b"],
        13,
    ),
    "shapes": (
        "u = Unsqueeze(a, n) s = Squeeze(u, n) r = Reshape(s, m) e = Expand(r, k) y = Mul(e, b)",
        {
            "a": whole(2, 3, seed=1),
            "b": whole(2, 6, seed=2),
            "n": np.array([1]),
            "m": np.array([6]),
            "k": np.array([2, 6]),
        },
        ["a", "b"],
        13,
    ),
    "reductions": (
        "s = ReduceSum <keepdims = 0> (a, n) y = Mul(s, b)",
        {"a": whole(2, 3, 4, seed=1), "b": whole(2, 4, seed=2), "n": np.array([1])},
        ["a", "b"],
        13,
    ),
    "means": ("s = ReduceMean(a) y = Mul(s, b)", {"a": whole(2, 4, seed=1), "b": whole(3, seed=2)}, ["a", "b"], 18),
    "choices": (
        "w = Where(c, a, b) i = Identity(w) y = Mul(i, i2)",
        {
            "a": whole(2, 2, seed=1),
            "b": whole(2, seed=2),
            "i2": whole(2, 2, seed=3),
            "c": np.array([[True, False], [False, True]]),
        },
        ["a", "b", "i2"],
        16,
    ),
    "casts": (
        "f = Cast <to = 1> (a) g = CastLike(f, b) y = Mul(g, b)",
        {"a": whole(3, seed=1), "b": whole(3, seed=2)},
        ["a", "b"],
        15,
    ),
    "unused": ("y = Neg(a)", {"a": whole(3, seed=1), "b": whole(2, seed=2)}, ["a", "b"], 13),
}


@pytest.mark.parametrize("name", LINEAR)
def test_linear_in_each_element(name: str, tmp_path: Path) -> None:
    body, feeds, asked, opset = LINEAR[name]
    model = untyped(graph(body, feeds, asked), opset)
    base, *found = outputs(tmp_path, model, feeds)
    for which, derivative in zip(asked, found, strict=True):
        wanted = np.zeros(feeds[which].shape)
        for at in np.ndindex(wanted.shape):
            moved = feeds[which].copy()
            moved[at] += 1
            wanted[at] = outputs(tmp_path, model, feeds | {which: moved})[0].sum() - base.sum()
        assert derivative.dtype == np.float64 and derivative.shape == wanted.shape
        assert (derivative == wanted).all(), f"d_{which} is {derivative.tolist()}, not {wanted.tolist()}"
    saw("computed", f"{TRAINING}.Gradient-1")


X = np.array([[-2.5, -0.5, 0.25, 3.0]])
P = np.abs(X) + 0.5
CURVES: dict[str, tuple[str, np.ndarray, Callable[[np.ndarray], np.ndarray]]] = {
    "Exp": ("y = Exp(x)", X, np.exp),
    "Log": ("y = Log(x)", P, lambda x: 1 / x),
    "Sqrt": ("y = Sqrt(x)", P, lambda x: 0.5 / np.sqrt(x)),
    "Reciprocal": ("y = Reciprocal(x)", X, lambda x: -1 / x**2),
    "Abs": ("y = Abs(x)", X, np.sign),
    "Tanh": ("y = Tanh(x)", X, lambda x: 1 / np.cosh(x) ** 2),
    "Sigmoid": ("y = Sigmoid(x)", X, lambda x: 1 / (2 + np.exp(x) + np.exp(-x))),
    "Softplus": ("y = Softplus(x)", X, lambda x: 1 / (1 + np.exp(-x))),
    "Relu": ("y = Relu(x)", X, lambda x: (x > 0).astype(x.dtype)),
    "LeakyRelu": ("y = LeakyRelu <alpha = 0.25> (x)", X, lambda x: np.where(x < 0, 0.25, 1)),
    "Sin": ("y = Sin(x)", X, np.cos),
    "Cos": ("y = Cos(x)", X, lambda x: -np.sin(x)),
    "Erf": ("y = Erf(x)", X, lambda x: 2 / np.sqrt(np.pi) * np.exp(-(x**2))),
    "Div": ("one = Constant <value = double {1}> () y = Div(one, x)", X, lambda x: -1 / x**2),
    "Pow": ("three = Constant <value = int64 {3}> () y = Pow(x, three)", X, lambda x: 3 * x**2),
    "Pow_by_exponent": ("two = Constant <value = double {2}> () y = Pow(two, x)", X, lambda x: 2**x * np.log(2)),
    "Softmax": ("s = Softmax(x) y = Mul(s, s)", X, lambda x: slopes_of_softmax(x)),
    "twice": (
        f'e = Exp(x) c = Mul(e, x) d = {TRAINING}.Gradient <xs = ["x"], y = "c"> (x) y = Identity(d)',
        X,
        lambda x: np.exp(x) * (x + 2),
    ),
}


def test_of_a_linear_model_twice(tmp_path: Path) -> None:
    """The second derivative of (X W)^2 by W is 2 X^T X, computed here as that of the first one's sum."""
    text = f"""g (double[2, 3] x, double[3, 1] w) => (double[3, 1] d, double[3, 1] dd) {{
      p = Gemm(x, w) q = MatMul(x, w) o = Mul(p, q)
      d = {TRAINING}.Gradient <xs = ["w"], zs = ["x"], y = "o"> (w, x)
      dd = {TRAINING}.Gradient <xs = ["w"], zs = ["x"], y = "d"> (w, x) }}"""
    feeds = {"x": whole(2, 3, seed=1), "w": whole(3, 1, seed=2)}
    square = feeds["x"].T @ feeds["x"]
    d, dd = outputs(tmp_path, model_of(text, 13), feeds)
    assert (d == 2 * square @ feeds["w"]).all()
    assert (dd[:, 0] == 2 * square.sum(axis=1)).all()


def slopes_of_softmax(x: np.ndarray) -> np.ndarray:
    """The gradient of the sum of squares of a softmax."""
    shares = np.exp(x) / np.exp(x).sum()
    return 2 * shares * (shares - (shares**2).sum())


@pytest.mark.parametrize("name", CURVES)
def test_curves(name: str, tmp_path: Path) -> None:
    """Compares in float32: both sides err by a few times 2^-53 in double, and no slope is near a float32 tie."""
    body, x, slope = CURVES[name]
    _, found = outputs(tmp_path, untyped(graph(body, {"x": x}, ["x"]), 21), {"x": x})
    assert (found.astype(np.float32) == slope(x).astype(np.float32)).all(), (found, slope(x))
    saw("computed", f"{TRAINING}.Gradient-1")


def test_every_derivative_is_asked_for() -> None:
    """Every operator with a derivative occurs in a test graph."""
    bodies = " ".join(body for body, *_ in [*LINEAR.values(), *CURVES.values()])
    said = {name.rpartition("-")[0] for name in names_of(load_spec(SPEC))}
    assert [op for op in sorted(said) if f" {op}" not in bodies] == []


def test_at_another_point(tmp_path: Path) -> None:
    """The node's inputs may differ from the graph's values."""
    text = (
        f'g (double a, double p) => (double y, double d) {{ y = Mul(a, a) d = {TRAINING}.Gradient <xs = ["a"], y = '
        f'"y"> (p) }}'
    )
    y, d = outputs(tmp_path, model_of(text, 14), {"a": np.array(3.0), "p": np.array(5.0)})
    assert (y, d) == (9.0, 10.0)


@pytest.mark.parametrize(
    ("node", "code", "says"),
    [
        ('<xs = ["a"], y = "y"> (a)', 3, "depends on 'b'"),
        ('<xs = ["a", "b"], y = "y"> (a)', 3, "1 inputs are given for 2 names"),
        ('<xs = ["a", "a"], y = "y"> (a, a)', 3, "stands twice"),
        ('<xs = ["a"], zs = ["b"], y = "r"> (a, b)', 4, "the derivative of Round-11"),
        ('<xs = ["a"], zs = ["b"], y = "d"> (a, b)', 3, "its own derivative"),
        ('<xs = ["n"], y = "n"> (n)', 3, "int64"),
    ],
)
def test_refusals(node: str, code: int, says: str, tmp_path: Path) -> None:
    text = (
        f"g (double a, double b, int64 n) => (double y, double d) {{ y = Mul(a, b) r = Round(y) d = "
        f"{TRAINING}.Gradient {node} }}"
    )
    done = run(tmp_path, model_of(text, 14), {"a": np.array(1.0), "b": np.array(2.0), "n": np.array(3)})
    assert (done.returncode, says in done.stderr) == (code, True), done.stderr
