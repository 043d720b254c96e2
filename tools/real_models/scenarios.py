"""Which models are run and on what: feeds are seeded, so that two runs of this tool see the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Scenario:
    """A model run a few times in a row; `carry` names outputs that become inputs of the next step."""

    name: str
    about: str
    feeds: Callable[[int], Arrays]  # of one step, without what is carried
    steps: int = 1
    carry: Mapping[str, str] = field(default_factory=dict)  # output -> input
    start: Arrays = field(default_factory=dict)  # what is carried into the first step
    seconds: float | None = None  # what the reference may take on one core


RATE = 16000
CONTEXT, FRESH = 64, 512  # samples of a chunk that the last one held too, and new ones


def speech_like(samples: int) -> np.ndarray:
    """A gliding tone with harmonics under a syllable's envelope, in noise: quiet enough never to clip."""
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
]
