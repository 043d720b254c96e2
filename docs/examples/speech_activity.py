"""Speech activity with state: each run takes the state that the run before it gave.

python docs/examples/speech_activity.py speech_detector.onnx
"""

from __future__ import annotations

import sys

import numpy as np
import touchstone

RATE, CHUNK = 16000, 256


def recording() -> np.ndarray:
    """Two seconds: a tone of 200 Hz from 0.5 to 1.25 s, else near silence."""
    time = np.arange(2 * RATE) / RATE
    loud = (time >= 0.5) & (time < 1.25)
    return (np.sin(2 * np.pi * 200 * time) * np.where(loud, 0.5, 0.01)).astype(np.float32)


def main() -> None:
    session = touchstone.InferenceSession(sys.argv[1], intra_op_num_threads=1)
    state = np.zeros((1, 1), np.float32)
    speaking, sound = False, recording()
    for start in range(0, len(sound), CHUNK):
        chunk = sound[start : start + CHUNK].reshape(1, CHUNK)
        probability, state = session.run(["probability", "next_state"], {"chunk": chunk, "state": state})
        now = bool(probability.item() > 0.5)
        if now != speaking:
            print(f"{'begins' if now else 'ends'} at {start / RATE:.2f} s")
        speaking = now


if __name__ == "__main__":
    main()
