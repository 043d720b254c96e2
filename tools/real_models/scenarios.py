"""Models to run and their feeds, which are seeded, so that two runs of this tool use the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Scenario:
    """Model run a few times in a row; `carry` names outputs that become inputs of the next step."""

    name: str
    about: str
    feeds: Callable[[int], Arrays]  # feeds of one step, without carried values
    steps: int = 1
    carry: Mapping[str, str] = field(default_factory=dict)  # output -> input
    start: Arrays = field(default_factory=dict)  # carried values of the first step
    seconds: float | None = None  # max. seconds of the reference on one core at rest, for the report
    always: bool = True  # False: only in the long run (--all)
    sample_above: int = 10_000_000  # multiply-adds of a node above which a sample is judged


RATE = 16000
CONTEXT, FRESH = 64, 512  # samples that a chunk repeats from the previous one, and new ones


def speech_like(samples: int) -> np.ndarray:
    """Returns a gliding tone with harmonics under a syllable's envelope, in noise: quiet enough never to clip."""
    random = np.random.default_rng(16)
    seconds = np.arange(samples) / RATE
    phase = 2 * np.pi * (140 * seconds + 90 * seconds**2)
    voice = sum(np.sin(k * phase + random.uniform(0, 6)) / k for k in range(1, 9))
    envelope = 0.5 + 0.5 * np.sin(2 * np.pi * 4 * seconds)
    return (0.15 * voice * envelope + 0.01 * random.standard_normal(samples)).astype(np.float32)


def chunk(step: int) -> Arrays:
    signal = speech_like(CONTEXT + 3 * FRESH)
    return {
        "input": signal[np.newaxis, step * FRESH : step * FRESH + CONTEXT + FRESH],
        "sr": np.array(RATE, dtype=np.int64),
    }


def normal(name: str, shape: tuple[int, ...], scale: float = 1.0) -> Callable[[int], Arrays]:
    def feeds(step: int) -> Arrays:
        random = np.random.default_rng([2026, step])
        return {name: (scale * random.standard_normal(shape)).astype(np.float32)}

    return feeds


def contents(step: int) -> Arrays:
    """Returns the first and last 1,024 bytes of a text file, as codes."""
    random = np.random.default_rng([3, step])
    return {"bytes": random.integers(32, 127, size=(1, 2048), dtype=np.int32)}


def sentence(step: int) -> Arrays:
    """Returns the token ids of a sentence, padded at the end."""
    random = np.random.default_rng([384, step])
    words = 96
    mask = (np.arange(128) < words).astype(np.int64)[np.newaxis]
    return {
        "input_ids": random.integers(1000, 30000, size=(1, 128), dtype=np.int64) * mask,
        "attention_mask": mask,
        "token_type_ids": np.zeros((1, 128), dtype=np.int64),
    }


SCENARIOS = [
    Scenario(
        "silero_vad",
        "silero-vad 6.2.3, three chunks of speech-like sound with the state carried",
        chunk,
        steps=3,
        carry={"stateN": "state"},
        start={"state": np.zeros((2, 1, 128), dtype=np.float32)},
    ),
    Scenario(
        "light_resnet50",
        "ResNet-50 with seeded random weights, to the logits",
        normal("gpu_0/data_0", (1, 3, 224, 224)),
        seconds=25,
    ),
    Scenario(
        "light_resnet50_tail",
        "what follows ResNet-50's logits, on logits that do not saturate it",
        normal("r174", (1, 1000), scale=2.0),
    ),
    Scenario("magika", "magika 1.0.3, the kind of a file from its bytes", contents, always=False),
    Scenario("minilm_int8", "MiniLM with int8 weights, one sentence", sentence, always=False),
    Scenario(
        "basic_pitch",
        "basic-pitch 0.4.0, the notes in two seconds of sound",
        lambda step: {"serving_default_input_2:0": speech_like(43844).reshape(1, 43844, 1)},
        always=False,
    ),
    Scenario("ppocr_rec", "PP-OCRv4's recogniser, one line", normal("x", (1, 3, 48, 320), scale=0.5), always=False),
    Scenario(
        "ppocr_det",
        "PP-OCRv4's detector",
        normal("x", (1, 3, 640, 640), scale=0.5),
        always=False,
        sample_above=1_000_000,  # millions of elements in each of 300 maps
    ),
    Scenario(
        "light_densenet121",
        "DenseNet-121 with seeded random weights",
        normal("data_0", (1, 3, 224, 224)),
        always=False,
    ),
]
