"""Images that Pillow writes decode to the same pixels as in Pillow, bit for bit; damaged files give an empty tensor."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from tests.witnessed import in_force, saw

BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", Path(__file__).parents[2] / "build"))
HEIGHT, WIDTH = 21, 34  # no multiples of a codec's block size


def picture(mode: str) -> Image.Image:
    """A smooth and noisy picture, so that every stage of a codec matters."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    noise = np.random.default_rng(3).integers(0, 64, (HEIGHT, WIDTH, 4))
    planes = np.stack([x * 7, y * 11, 255 - x * 3 - y * 4, 128 + x - y], axis=2) % 192
    return Image.fromarray((planes + noise).astype(np.uint8), "RGBA").convert(mode)


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def decoded(folder: Path, data: bytes, pixel_format: str = "RGB") -> np.ndarray:
    node = helper.make_node("ImageDecoder", ["stream"], ["image"], pixel_format=pixel_format)
    stream = helper.make_tensor_value_info("stream", TensorProto.UINT8, [None])
    graph = helper.make_graph([node], "g", [stream], [helper.make_tensor_value_info("image", TensorProto.UINT8, None)])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / "model.onnx"
    )
    feed = numpy_helper.from_array(np.frombuffer(data, np.uint8))
    (folder / "stream.pb").write_bytes(feed.SerializeToString())
    command = [BUILD / "touchstone", "run", folder / "model.onnx", "--input", f"stream={folder / 'stream.pb'}"]
    done = subprocess.run([*command, "--output-dir", folder], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return np.load(folder / "output_0.npy")


FILES = {
    "png": ("RGB", "PNG", {}),
    "png_gray": ("L", "PNG", {}),
    "png_palette": ("P", "PNG", {}),
    "png_bits": ("1", "PNG", {}),
    "png_alpha": ("RGBA", "PNG", {}),
    "png_gray_alpha": ("LA", "PNG", {}),
    "jpeg": ("RGB", "JPEG", {}),
    "jpeg_best": ("RGB", "JPEG", {"quality": 100, "subsampling": 0}),
    "jpeg_worst": ("RGB", "JPEG", {"quality": 5}),
    "jpeg_422": ("RGB", "JPEG", {"subsampling": 1}),
    "jpeg_progressive": ("RGB", "JPEG", {"progressive": True}),
    "jpeg_gray": ("L", "JPEG", {}),
    "jpeg2000": ("RGB", "JPEG2000", {}),
    "jpeg2000_gray": ("L", "JPEG2000", {}),
    "jpeg2000_stream": ("RGB", "JPEG2000", {"no_jp2": True}),
    "jpeg2000_lossy": ("RGB", "JPEG2000", {"irreversible": True, "quality_mode": "rates", "quality_layers": [20]}),
    "tiff": ("RGB", "TIFF", {}),
    "tiff_gray": ("L", "TIFF", {}),
    "tiff_bits": ("1", "TIFF", {}),
    "tiff_lzw": ("RGB", "TIFF", {"compression": "tiff_lzw"}),
    "tiff_deflate": ("RGB", "TIFF", {"compression": "tiff_deflate"}),
    "tiff_packbits": ("RGB", "TIFF", {"compression": "packbits"}),
    "tiff_palette": ("P", "TIFF", {}),
    "webp": ("RGB", "WEBP", {}),
    "webp_lossless": ("RGB", "WEBP", {"lossless": True}),
    "bmp": ("RGB", "BMP", {}),
    "bmp_gray": ("L", "BMP", {}),
    "bmp_palette": ("P", "BMP", {}),
    "bmp_bits": ("1", "BMP", {}),
    "bmp_alpha": ("RGBA", "BMP", {}),
    "ppm": ("RGB", "PPM", {}),
    "pgm": ("L", "PPM", {}),
    "pbm": ("1", "PPM", {}),
}


@pytest.mark.parametrize("name", FILES)
def test_file(name: str, tmp_path: Path) -> None:
    mode, kind, options = FILES[name]
    data = encoded(picture(mode), kind, **options)
    wanted = Image.open(io.BytesIO(data)).convert("RGB")
    assert np.array_equal(decoded(tmp_path, data), np.array(wanted))
    saw("pillow", in_force("ImageDecoder", 20))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_pixel_formats(kind: str, tmp_path: Path) -> None:
    data = encoded(picture("RGB"), kind)
    wanted = Image.open(io.BytesIO(data)).convert("RGB")
    assert np.array_equal(decoded(tmp_path, data, "BGR"), np.array(wanted)[:, :, ::-1])
    assert np.array_equal(decoded(tmp_path, data, "Grayscale")[:, :, 0], np.array(wanted.convert("L")))


def runs() -> bytes:
    """A run-length encoded bitmap of 5 by 2: a run, a literal, a skip, then the other row."""
    palette = b"".join(bytes([k, 2 * k % 256, 3 * k % 256, 0]) for k in range(256))
    pixels = bytes([3, 7, 0, 0, 1, 1, 0, 4, 10, 20, 30, 40, 0, 1])
    header = b"BM" + (54 + 1024 + len(pixels)).to_bytes(4, "little") + bytes(4) + (54 + 1024).to_bytes(4, "little")
    sizes = (40, 5, 2)
    info = b"".join(size.to_bytes(4, "little") for size in sizes) + bytes([1, 0, 8, 0, 1, 0, 0, 0]) + bytes(20)
    return header + info + palette + pixels


def test_run_lengths(tmp_path: Path) -> None:
    indices = np.array([[1, 10, 20, 30, 40], [7, 7, 7, 0, 0]])  # the lower row comes first
    wanted = np.stack([3 * indices, 2 * indices, indices], axis=2).astype(np.uint8)
    assert np.array_equal(decoded(tmp_path, runs()), wanted)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "JPEG2000", "TIFF", "WEBP", "BMP", "PPM"])
def test_a_damaged_file_is_empty(kind: str, tmp_path: Path) -> None:
    data = encoded(picture("RGB"), kind)
    assert decoded(tmp_path, data[: len(data) // 3]).shape == (0, 0, 3)
    assert decoded(tmp_path, data[:20], "Grayscale").shape == (0, 0, 1)
