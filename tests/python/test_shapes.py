"""Sessions of models whose inputs have open sizes, run with one shape after the other."""

from __future__ import annotations

import numpy as np
import onnx
import touchstone

BRANCHING = """<ir_version: 10, opset_import: ["" : 21]>
branching (float[s,t] z, float[1,t] row, float[a,b,c,d] x) => (float[] y, float[] w)
<float scale = {0.04}, uint8 zero = {120}, int64 first = {0}, int64 three = {3}, int8[4] zeros = {0, 0, 0, 0},
 float[4] scales = {0.02, 0.01, 0.02, 0.01}>
{
  rows = Add (z, row)
  sizes = Shape (rows)
  size = Gather (sizes, first)
  many = Greater (size, three)
  part = If (many) <then_branch: graph = t () => (float[] o) { o = Neg (rows) },
                    else_branch: graph = e () => (float[] o) { o = Abs (rows) }>
  w = Neg (part)
  codes = QuantizeLinear (x, scale, zero)
  v = DequantizeLinear (codes, scale, zero)
  k = DequantizeLinear <axis = 0> (weights, scales, zeros)
  y = Conv <pads = [1, 1, 1, 1]> (v, k)
}"""


def test_the_same_inputs_have_the_same_bits_after_larger_ones() -> None:
    model = onnx.parser.parse_model(BRANCHING)
    draw = np.random.default_rng(0)
    weights = draw.integers(-128, 127, (4, 3, 3, 3)).astype(np.int8)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "weights"))
    session = touchstone.InferenceSession(model.SerializeToString())

    def feeds(**shapes: tuple[int, ...]) -> dict[str, np.ndarray]:
        return {name: draw.standard_normal(shape, np.float32) for name, shape in shapes.items()}

    small = feeds(z=(6, 4), row=(1, 4), x=(2, 3, 3, 4))
    large = feeds(z=(2, 6), row=(1, 6), x=(1, 3, 6, 6))
    before = session.run(None, small)
    session.run(None, large)
    for one, other in zip(before, session.run(None, small), strict=True):
        assert one.tobytes() == other.tobytes()
