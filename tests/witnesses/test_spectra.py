"""Fourier transforms, windows and mel bands against numpy's transforms and the standard's evaluator."""

from __future__ import annotations

import numpy as np
import pytest

from tests.witnesses.asking import Asked, agree, seeded

LENGTHS = [None, 5, 8, 12]


def scalar(value: int | None) -> np.ndarray | None:
    return None if value is None else np.array(value, np.int64)


def parts(spectrum: np.ndarray, dtype: type) -> np.ndarray:
    return np.stack([spectrum.real, spectrum.imag], axis=-1).astype(dtype)


def joined(signal: np.ndarray) -> np.ndarray:
    wide = signal.astype(np.float64)
    return wide[..., 0] + 1j * wide[..., 1] if signal.shape[-1] == 2 else wide[..., 0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("axis", [0, 1, -2])
@pytest.mark.parametrize("numbers", [1, 2])
@pytest.mark.parametrize("inverse", [0, 1])
def test_whole_spectra(inverse: int, numbers: int, axis: int, length: int | None, dtype: type) -> None:
    signal = seeded(7, 8, 9, numbers, seed=inverse + 2 * numbers, dtype=dtype)
    transform = np.fft.ifft if inverse else np.fft.fft
    place = axis if axis >= 0 else axis + 1  # numpy has no dimension for real and imaginary parts
    expected = parts(transform(joined(signal), n=length, axis=place), dtype)
    inputs = {"signal": signal, "length": scalar(length)}
    agree(Asked("DFT", 17, inputs, axis=axis, inverse=inverse), [expected])
    newer = Asked("DFT", 20, {**inputs, "axis": scalar(axis)}, inverse=inverse)
    agree(newer, [expected])


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_half_spectra(dtype: type, length: int | None) -> None:
    signal = seeded(3, 9, 1, seed=5, dtype=dtype)
    half = parts(np.fft.rfft(joined(signal), n=length, axis=1), dtype)
    agree(Asked("DFT", 17, {"signal": signal, "length": scalar(length)}, onesided=1), [half])
    spectrum = seeded(3, 6, 2, seed=6, dtype=dtype)
    back = np.fft.irfft(joined(spectrum), n=length, axis=1)[..., np.newaxis].astype(dtype)
    asked = Asked("DFT", 17, {"signal": spectrum, "length": scalar(length)}, onesided=1, inverse=1)
    agree(asked, [back])


def test_a_long_signal_keeps_its_digits() -> None:
    signal = seeded(1, 1009, 1, seed=9, dtype=np.float64)
    expected = parts(np.fft.fft(joined(signal), axis=1), np.float64)
    agree(Asked("DFT", 17, {"signal": signal, "length": None}), [expected])


@pytest.mark.parametrize(("numbers", "onesided"), [(1, 1), (1, 0), (2, 0)])
@pytest.mark.parametrize("windowed", [True, False])
@pytest.mark.parametrize("step", [1, 3, 20])
def test_frames(step: int, windowed: bool, numbers: int, onesided: int) -> None:
    signal, window = seeded(2, 21, numbers, seed=step), seeded(6, seed=2) if windowed else None
    frames = [joined(signal)[:, at : at + 6] for at in range(0, 21 - 6 + 1, step)]
    weighted = np.stack(frames, axis=1) * (1 if window is None else window.astype(np.float64))
    spectra = np.fft.fft(weighted, axis=2)[:, :, : 4 if onesided else 6]
    inputs = {"signal": signal, "step": scalar(step), "window": window, "length": scalar(6)}
    agree(Asked("STFT", 17, inputs, onesided=onesided), [parts(spectra, np.float32)])


@pytest.mark.parametrize("periodic", [0, 1])
@pytest.mark.parametrize("size", [3, 7, 100])
@pytest.mark.parametrize("kind", [1, 11])
@pytest.mark.parametrize("op", ["HannWindow", "HammingWindow", "BlackmanWindow"])
def test_windows(op: str, kind: int, size: int, periodic: int) -> None:
    asked = Asked(op, 17, {"size": np.array(size, np.int64)}, periodic=periodic, output_datatype=kind)
    agree(asked, asked.evaluator())


@pytest.mark.parametrize(
    ("bands", "length", "rate", "low", "high"), [(8, 64, 8192, 20, 4000), (20, 400, 16000, 125, 7600)]
)
def test_mel_bands(bands: int, length: int, rate: int, low: float, high: float) -> None:
    numbers = {"bands": bands, "length": length, "rate": rate}
    inputs: dict[str, np.ndarray | None] = {name: np.array(value, np.int64) for name, value in numbers.items()}
    inputs |= {"low": np.array(low, np.float32), "high": np.array(high, np.float32)}
    asked = Asked("MelWeightMatrix", 17, inputs, output_datatype=1)
    agree(asked, asked.evaluator())
