"""HTK's mel scale and filter bank: triangles whose sides are straight in mel, not in hertz."""

import numpy as np

from asr.errors import ConfigError


def hertz_to_mel(hertz: np.ndarray | float) -> np.ndarray:
    """Mel number of a frequency: 1127 ln(1 + f / 700) (Young et al., The HTK Book, eq. 5.13)."""
    return 1127.0 * np.log1p(np.asarray(hertz, dtype=np.float64) / 700.0)


def mel_filters(sample_rate: int, fft_size: int, n_filters: int, low_hz: float, high_hz: float | None) -> np.ndarray:
    """Triangles of equal mel width over the FFT bins: float64 (n_filters, fft_size // 2 + 1).

    Neighbours cross at one half of their height in mel, and each reaches zero at its neighbours' centres.
    Raises ConfigError when a triangle falls between two bins.
    """
    edges = np.linspace(
        hertz_to_mel(low_hz), hertz_to_mel(sample_rate / 2 if high_hz is None else high_hz), n_filters + 2
    )
    bins = hertz_to_mel(np.arange(fft_size // 2 + 1) * (sample_rate / fft_size))
    rising = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    weights = np.maximum(0.0, np.minimum(rising, falling))
    empty = np.flatnonzero(weights.max(axis=1) < 1e-9)
    if empty.size:
        raise ConfigError(
            f"n_filters = {n_filters} is too many for an FFT of {fft_size} points at {sample_rate} Hz: "
            f"filter {empty[0] + 1} covers no bin; use fewer filters or a wider band."
        )
    return weights
