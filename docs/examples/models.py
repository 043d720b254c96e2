"""Makes the models of these examples: small, with weights that are chosen and not trained.

python docs/examples/models.py FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
WORDS = ["<pad>", "cat", "kitten", "dog", "sleeps", "naps", "runs", "stocks", "shares", "fell", "dropped"]
CHAT = ["<end>", "hello", "how", "are", "you", "i", "am", "fine", "what", "is", "onnx", "a", "format", "for", "models"]


def tensor(name: str, values: object, kind: type = np.float32) -> TensorProto:
    return numpy_helper.from_array(np.asarray(values, kind), name)


def value(name: str, kind: int, shape: list[int | str]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def model(
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto],
    outputs: list[onnx.ValueInfoProto],
    weights: list[TensorProto],
    **metadata: str,
) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "example", inputs, outputs, weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    helper.set_model_props(made, metadata)
    return made


def image_classifier() -> onnx.ModelProto:
    """Blurs, averages each color, and compares: classes red, green, blue. The labels are in the metadata."""
    blur = np.zeros((3, 3, 3, 3))
    for channel in range(3):
        blur[channel, channel] = 1 / 9
    nodes = [
        helper.make_node("Conv", ["image", "blur"], ["blurred"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["blurred"], ["positive"]),
        helper.make_node("GlobalAveragePool", ["positive"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["features"]),
        helper.make_node("Gemm", ["features", "weight", "bias"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["scores"]),
    ]
    weights = [tensor("blur", blur), tensor("weight", 6 * np.eye(3) - 2), tensor("bias", [0, 0, 0])]
    inputs = [value("image", FLOAT, ["batch", 3, "height", "width"])]
    return model(nodes, inputs, [value("scores", FLOAT, ["batch", 3])], weights, names="red,green,blue")


def speech_detector() -> onnx.ModelProto:
    """Smooths the loudness of chunks of 256 samples. The state goes out of each run and into the next."""
    nodes = [
        helper.make_node("Mul", ["chunk", "chunk"], ["squares"]),
        helper.make_node("ReduceMean", ["squares", "axis"], ["power"], keepdims=1),
        helper.make_node("Mul", ["state", "keep"], ["kept"]),
        helper.make_node("Mul", ["power", "take"], ["taken"]),
        helper.make_node("Add", ["kept", "taken"], ["next_state"]),
        helper.make_node("Sub", ["next_state", "threshold"], ["above"]),
        helper.make_node("Mul", ["above", "slope"], ["scaled"]),
        helper.make_node("Sigmoid", ["scaled"], ["probability"]),
    ]
    numbers = {"keep": 0.75, "take": 0.25, "threshold": 0.03, "slope": 200}
    weights = [tensor("axis", [1], np.int64), *(tensor(name, number) for name, number in numbers.items())]
    inputs = [value("chunk", FLOAT, [1, 256]), value("state", FLOAT, [1, 1])]
    outputs = [value("probability", FLOAT, [1, 1]), value("next_state", FLOAT, [1, 1])]
    return model(nodes, inputs, outputs, weights)


def text_encoder() -> onnx.ModelProto:
    """Averages the vectors of a sentence's words and gives it length 1. Words of one meaning have near vectors."""
    meanings = [0, 1, 1, 2, 3, 3, 4, 5, 5, 6, 6]  # cat and kitten, sleeps and naps ...
    table = np.eye(8)[meanings]
    table[:, 7] = np.arange(len(WORDS)) / 40
    table[0] = 0
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["vectors"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["column"]),
        helper.make_node("Mul", ["vectors", "column"], ["masked"]),
        helper.make_node("ReduceSum", ["masked", "words"], ["sum"], keepdims=0),
        helper.make_node("ReduceL2", ["sum", "last"], ["length"], keepdims=1),
        helper.make_node("Div", ["sum", "length"], ["sentence_embedding"]),
    ]
    weights = [tensor("table", table), tensor("last", [-1], np.int64), tensor("words", [1], np.int64)]
    inputs = [value(name, INT64, ["batch", "sequence"]) for name in ("input_ids", "attention_mask")]
    outputs = [value("sentence_embedding", FLOAT, ["batch", 8])]
    return model(nodes, inputs, outputs, weights, words=" ".join(WORDS))


def decoder() -> onnx.ModelProto:
    """One layer of a decoder with a cache of keys and values, as GPT-2 exports have it; it follows learned pairs."""
    size, pairs = len(CHAT), "hello how are you <end>|i am fine <end>|what is onnx a format for models <end>"
    follows = np.zeros((size, size))
    for line in pairs.split("|"):
        words = [CHAT.index(word) for word in line.split()]
        for before, after in zip(words, words[1:], strict=False):
            follows[before, after] = 8
    follows[CHAT.index("you"), CHAT.index("i")] = 16
    follows[CHAT.index("you"), 0] = 0
    queries = np.linspace(-1, 1, size * size).reshape(size, size) / 8
    nodes = [
        helper.make_node("Gather", ["embedding", "input_ids"], ["x"]),
        helper.make_node("MatMul", ["x", "wq"], ["q"]),
        helper.make_node("MatMul", ["x", "wk"], ["k"]),
        helper.make_node("MatMul", ["x", "wv"], ["v"]),
        helper.make_node("Unsqueeze", ["k", "heads"], ["k4"]),
        helper.make_node("Unsqueeze", ["v", "heads"], ["v4"]),
        helper.make_node("Unsqueeze", ["q", "heads"], ["q4"]),
        helper.make_node("Concat", ["past_key", "k4"], ["present_key"], axis=2),
        helper.make_node("Concat", ["past_value", "v4"], ["present_value"], axis=2),
        helper.make_node("Transpose", ["present_key"], ["kt"], perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["q4", "kt"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["weights"]),
        helper.make_node("MatMul", ["weights", "present_value"], ["heard"]),
        helper.make_node("Squeeze", ["heard", "heads"], ["attended"]),
        helper.make_node("Add", ["x", "attended"], ["residual"]),
        helper.make_node("MatMul", ["residual", "head"], ["logits"]),
    ]
    weights = [
        tensor("embedding", np.eye(size)),
        tensor("wq", queries),
        tensor("wk", queries.T),
        tensor("wv", np.eye(size) / 8),
        tensor("head", follows),
        tensor("heads", [1], np.int64),
    ]
    cache = [value(name, FLOAT, [1, 1, "past", size]) for name in ("past_key", "past_value")]
    grown = [value(name, FLOAT, [1, 1, "total", size]) for name in ("present_key", "present_value")]
    logits = value("logits", FLOAT, [1, "sequence", size])
    return model(
        nodes, [value("input_ids", INT64, [1, "sequence"]), *cache], [logits, *grown], weights, words=" ".join(CHAT)
    )


MODELS = {
    "image_classifier": image_classifier,
    "speech_detector": speech_detector,
    "text_encoder": text_encoder,
    "decoder": decoder,
}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in MODELS.items():
        onnx.save(make(), folder / f"{name}.onnx")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
