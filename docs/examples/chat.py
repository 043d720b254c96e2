"""A chat loop over a decoder with a cache: keys and values stay in OrtValues that one run gives and the next takes.

echo hello | python docs/examples/chat.py decoder.onnx
"""

from __future__ import annotations

import sys

import numpy as np
import touchstone
from touchstone import OrtValue

CACHE = ("key", "value")
MOST = 16  # words of an answer


class Chat:
    """A session, and the cache of the conversation so far."""

    def __init__(self, file: str):
        self.session = touchstone.InferenceSession(file)
        self.words = self.session.get_modelmeta().custom_metadata_map["words"].split()
        size = len(self.words)
        self.past = {name: OrtValue.ortvalue_from_numpy(np.zeros((1, 1, 0, size), np.float32)) for name in CACHE}

    def next(self, tokens: list[int]) -> int:
        """Runs the new tokens alone; what came before them is in the cache."""
        binding = self.session.io_binding()
        binding.bind_cpu_input("input_ids", np.array([tokens], np.int64))
        for name in CACHE:
            binding.bind_ortvalue_input(f"past_{name}", self.past[name])
        binding.bind_output("logits")
        for name in CACHE:
            binding.bind_output(f"present_{name}")
        self.session.run_with_iobinding(binding)
        logits, *present = binding.get_outputs()
        self.past = dict(zip(CACHE, present, strict=True))
        return int(np.argmax(logits.numpy()[0, -1]))

    def answer(self, text: str) -> str:
        said: list[str] = []
        token = self.next([self.words.index(word) for word in text.split()])
        while self.words[token] != "<end>" and len(said) < MOST:
            said.append(self.words[token])
            token = self.next([token])
        return " ".join(said)


def main() -> None:
    chat = Chat(sys.argv[1])
    for line in sys.stdin:
        print(f"> {line.strip()}\n{chat.answer(line)}")
    print(f"{chat.past['key'].shape()[2]} tokens in the cache")


if __name__ == "__main__":
    main()
