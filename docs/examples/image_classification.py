"""Image classification: pixels become a batch of floats, and labels come from the model's metadata.

python docs/examples/image_classification.py image_classifier.onnx
"""

from __future__ import annotations

import sys

import numpy as np
import touchstone


def square(red: int, green: int, blue: int) -> np.ndarray:
    """A square of one color on black, as a decoder of images gives it: height, width, channel in bytes."""
    image = np.zeros((32, 32, 3), np.uint8)
    image[8:24, 8:24] = red, green, blue
    return image


def main() -> None:
    session = touchstone.InferenceSession(sys.argv[1], intra_op_num_threads=2)
    labels = session.get_modelmeta().custom_metadata_map["names"].split(",")
    images = np.stack([square(250, 40, 30), square(20, 200, 60), square(90, 80, 240)])
    batch = images.transpose(0, 3, 1, 2).astype(np.float32) / 255
    (scores,) = session.run(["scores"], {"image": batch})
    for row in scores:
        best = int(np.argmax(row))
        print(f"{labels[best]} {row[best]:.2f}")


if __name__ == "__main__":
    main()
