"""Cepstra of perceptual linear prediction (Hermansky 1990), in HTK's variant on mel filters.

Young et al., The HTK Book (3.4), section 5.7: powers of the mel filters are weighted by an equal-loudness curve and
compressed. An all-pole model of this spectrum is found by linear prediction (section 5.3), and converted to cepstra.
"""

from functools import lru_cache

import numpy as np

from asr.features.config import FeatureConfig
from asr.features.mel import mel_edges, mel_to_hertz

COMPRESSION = 0.33
"""Power to which loudness is raised, HTK's default of COMPRESSFACT; Hermansky has the cube root."""


def plp_cepstra(log_mel: np.ndarray, config: FeatureConfig) -> np.ndarray:
    """Return c0, ..., cn without lifter, float64 (n_frames, n_cepstra + 1), of log mel powers (n_frames, n_filters).

    The all-pole model has `n_cepstra` poles, and c0 is the logarithm of its gain.
    """
    log_loudness, cosines = _constants(config)
    predictor, gain = _durbin(np.exp(COMPRESSION * (log_mel + log_loudness)) @ cosines)
    cepstra = np.empty((len(log_mel), config.n_cepstra + 1))
    cepstra[:, 0] = np.log(gain)
    for n in range(1, config.n_cepstra + 1):  # The HTK Book, equation 5.11
        before = np.arange(1, n)
        total = ((n - before) * predictor[:, before] * cepstra[:, n - before]).sum(axis=1)
        cepstra[:, n] = -(predictor[:, n] + total / n)
    return cepstra


def _durbin(autocorrelation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return predictors 1, a1, ..., ap, (n_frames, p + 1), and prediction errors (The HTK Book, section 5.3)."""
    predictor = np.zeros_like(autocorrelation)
    predictor[:, 0] = 1.0
    error = autocorrelation[:, 0].copy()
    for order in range(1, autocorrelation.shape[1]):
        known = predictor[:, :order]
        reflection = (known * autocorrelation[:, order:0:-1]).sum(axis=1) / error
        predictor[:, 1 : order + 1] -= reflection[:, None] * known[:, ::-1]
        error *= 1.0 - reflection**2
    return predictor, error


@lru_cache(maxsize=8)
def _constants(config: FeatureConfig) -> tuple[np.ndarray, np.ndarray]:
    """Return the log equal-loudness curve (n_filters,), and the inverse Fourier transform (n_filters, n_cepstra + 1).

    The spectrum has the filters and both ends of the band, which repeat the outer filters.
    """
    edges = mel_edges(config.sample_rate, config.n_filters, config.low_hz, config.high_hz)
    squares = mel_to_hertz(edges[1:-1]) ** 2
    loudness = (squares / (squares + 1.6e5)) ** 2 * (squares + 1.44e6) / (squares + 9.61e6)
    last = config.n_filters + 1
    lags = np.arange(config.n_cepstra + 1)
    cosines = 2.0 * np.cos(np.pi / last * np.outer(np.arange(1, last), lags))
    cosines[0] += 1.0
    cosines[-1] += np.cos(np.pi * lags)
    return np.log(loudness), cosines / (2.0 * last)
