"""HTK's mel scale and filter bank: triangles with straight sides in mel, not in hertz."""

import numpy as np

from asr.util.errors import ConfigError

_MIN_WEIGHT = 1e-9


def hertz_to_mel(hertz: np.ndarray | float) -> np.ndarray:
    """Return the mel value of a frequency: 1127 ln(1 + f / 700) (Young et al., The HTK Book, eq. 5.13)."""
    return 1127.0 * np.log1p(np.asarray(hertz, dtype=np.float64) / 700.0)


def mel_to_hertz(mel: np.ndarray) -> np.ndarray:
    """Return the frequency of a mel value."""
    return 700.0 * np.expm1(np.asarray(mel) / 1127.0)


def mel_edges(sample_rate: int, n_filters: int, low_hz: float, high_hz: float | None) -> np.ndarray:
    """Return the mel values of the triangles' corners, (n_filters + 2,)."""
    high = sample_rate / 2 if high_hz is None else high_hz
    return np.linspace(hertz_to_mel(low_hz), hertz_to_mel(high), n_filters + 2)


def filter_without_bin(
    sample_rate: int, fft_size: int, n_filters: int, low_hz: float, high_hz: float | None
) -> int | None:
    """Return the number of the first triangle without FFT bin or width; None if all are valid."""
    edges, bins = _edges_and_bins(sample_rate, fft_size, n_filters, low_hz, high_hz)
    width = np.diff(edges)
    # The bin nearest to the center, on either side, has the largest weight.
    above = np.searchsorted(bins, edges[1:-1])
    weights = np.zeros(n_filters)
    for near in (above - 1, above):
        places = bins[np.clip(near, 0, len(bins) - 1)]
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = np.minimum((places - edges[:-2]) / width[:-1], (edges[2:] - places) / width[1:])
        weights = np.fmax(weights, weight)
    empty = np.flatnonzero((weights < _MIN_WEIGHT) | (width[:-1] <= 0) | (width[1:] <= 0))
    return int(empty[0]) if empty.size else None


def mel_filters(sample_rate: int, fft_size: int, n_filters: int, low_hz: float, high_hz: float | None) -> np.ndarray:
    """Return triangles of equal mel width over the FFT bins: float64 (n_filters, fft_size // 2 + 1).

    Neighbors cross at half their height in mel, and each reaches zero at its neighbors' centers. Raises ConfigError if
    a triangle falls between two bins.
    """
    edges, bins = _edges_and_bins(sample_rate, fft_size, n_filters, low_hz, high_hz)
    rising = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    weights = np.maximum(0.0, np.minimum(rising, falling))
    empty = np.flatnonzero(weights.max(axis=1) < _MIN_WEIGHT)
    if empty.size:
        raise ConfigError(
            f"n_filters = {n_filters} is too many for an FFT of {fft_size} points at {sample_rate} Hz: "
            f"filter {empty[0] + 1} covers no bin. Use fewer filters or a wider band."
        )
    return weights


def _edges_and_bins(
    sample_rate: int, fft_size: int, n_filters: int, low_hz: float, high_hz: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mel values of the triangles' corners (n_filters + 2,) and of the bins (fft_size // 2 + 1,)."""
    edges = mel_edges(sample_rate, n_filters, low_hz, high_hz)
    return edges, hertz_to_mel(np.arange(fft_size // 2 + 1) * (sample_rate / fft_size))
