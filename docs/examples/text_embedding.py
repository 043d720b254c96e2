"""Text embedding: sentences of different lengths are padded, and the mask keeps the padding out of the mean.

python docs/examples/text_embedding.py text_encoder.onnx
"""

from __future__ import annotations

import sys

import numpy as np
import touchstone

SENTENCES = ["cat sleeps", "kitten naps", "dog runs", "stocks fell", "cat"]


def main() -> None:
    session = touchstone.InferenceSession(sys.argv[1])
    words = session.get_modelmeta().custom_metadata_map["words"].split()
    longest = max(len(sentence.split()) for sentence in SENTENCES)
    ids = np.zeros((len(SENTENCES), longest), np.int64)
    mask = np.zeros_like(ids)
    for row, sentence in enumerate(SENTENCES):
        for place, word in enumerate(sentence.split()):
            ids[row, place], mask[row, place] = words.index(word), 1
    (vectors,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
    for sentence, vector in zip(SENTENCES[1:], vectors[1:], strict=True):
        print(f"{SENTENCES[0]} | {sentence}: {float(vectors[0] @ vector):.2f}")


if __name__ == "__main__":
    main()
