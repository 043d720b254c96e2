"""Programs' calls of ONNX Runtime (tests/python/programs.py) give the same answers with Touchstone in its place."""

from __future__ import annotations

import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tests.python import models
from tests.python.built import ENVIRONMENT, ONNXRUNTIME, PACKAGES
from tests.python.programs import PROGRAMS, drawn

STATE = """g (float[b,4] input, float[2,b,4] state, int64 sr) => (float[b,1] output, float[2,b,4] stateN)
<int64 rate = {16000}, int64[1] ones = {1}, int64 first = {0}> {
    h = Gather <axis = 0> (state, first) w = Equal(sr, rate) s = Add(input, h) d = Neg(s) y = Where(w, s, d)
    output = ReduceSum <keepdims = 1> (y, ones) u = Unsqueeze(y, zero) t = Sub(state, u) stateN = Relu(t)
}"""
EMBED = """g (int64[b,s] input_ids, int64[b,s] attention_mask) => (float[b,s,4] last_hidden_state)
<int64[1] last = {2}> {
    e = Gather(table, input_ids) h = MatMul(e, weights) m = Cast <to = 1> (attention_mask) u = Unsqueeze(m, last)
    last_hidden_state = Mul(h, u)
}"""
IMAGE = "g (float[n,3,h,w] x) => (float[n,4,h,w] y) { c = Conv <pads = [1, 1, 1, 1]> (x, kernel) y = Relu(c) }"
VOICE = """g (int64[b,p] input, int64[b] input_lengths, float[3] scales) => (float[b,1,1,t] output)
<int64[1] axis = {1}, int64 second = {2}> {
    e = Gather(table, input) t = Transpose <perm = [0, 2, 1]> (e) w = ConvTranspose <strides = [4]> (t, wave)
    k = Gather(scales, second) v = Mul(w, k) output = Unsqueeze(v, axis)
}"""
STREAM = """g (float[n,4,t] x, float[n,4,2] cached_conv, int64[n] cached_len)
=> (float[n,4,u] encoder_out, float[n,4,2] new_conv, int64[n] new_len)
<int64[1] start = {-2}, int64[1] end = {9223372036854775807}, int64[1] time = {2}, int64[1] step = {5}> {
    a = Concat <axis = 2> (cached_conv, x) encoder_out = Conv(a, taps)
    new_conv = Slice(a, start, end, time) new_len = Add(cached_len, step)
}"""
NAMES = "{0: 'person', 1: 'cat'}"


def written(path: Path, text: str, weights: dict[str, np.ndarray], **metadata: str) -> None:
    model = onnx.ModelProto.FromString(models.parsed(text, ir_version=9, opset=17))
    model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in weights.items())
    for key, value in metadata.items():
        model.metadata_props.add(key=key, value=value)
    onnx.checker.check_model(model, full_check=True)
    path.write_bytes(model.SerializeToString())


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("programs")
    written(folder / "state.onnx", STATE, {"zero": np.array([0])})
    written(folder / "embed.onnx", EMBED, {"table": drawn(8, 4, seed=1), "weights": drawn(4, 4, seed=2)})
    kernel = {"kernel": drawn(4, 3, 3, 3, seed=3)}
    written(folder / "image.onnx", IMAGE, kernel, stride="32", names=NAMES, task="detect", character="a\nb\nc")
    written(folder / "voice.onnx", VOICE, {"table": drawn(8, 3, seed=4), "wave": drawn(3, 1, 4, seed=5)})
    written(folder / "stream.onnx", STREAM, {"taps": drawn(4, 4, 3, seed=6)}, conv_dim="4")
    made = {}
    for runtime in ("onnxruntime", "touchstone"):
        script = Path(__file__).with_name("programs.py")
        done = subprocess.run(
            [str(ONNXRUNTIME), str(script), runtime, str(folder), str(folder / "answers")],
            capture_output=True,
            text=True,
            timeout=300,
            env=os.environ | ENVIRONMENT | {"PYTHONPATH": str(PACKAGES)},
        )
        assert done.returncode == 0, done.stderr
        made[runtime] = pickle.loads((folder / "answers").read_bytes())
    return made


def frozen(value: Any) -> Any:
    """Makes arrays comparable, with type and shape."""
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.shape, value.tobytes())
    if isinstance(value, dict):
        return {key: frozen(each) for key, each in value.items()}
    return [frozen(each) for each in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("program", [program.__name__ for program in PROGRAMS])
def test_a_program_has_the_same_answers(program: str, answers: dict[str, dict[str, Any]]) -> None:
    ours, theirs = (frozen(answers[runtime][program]) for runtime in ("touchstone", "onnxruntime"))
    assert ours == theirs
    assert any(isinstance(each, bytes) and any(each) for each in flat(ours))


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    return [each for part in value for each in flat(part)] if isinstance(value, list | tuple) else [value]
