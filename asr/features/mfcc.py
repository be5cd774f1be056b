"""Mel-frequency cepstral coefficients by HTK's conventions.

Young et al., The HTK Book (3.4), sections 5.2-5.6. HTK's own c0 is the orthonormal one times sqrt(2).
"""

from functools import lru_cache

import numpy as np
import scipy.fft

from asr.features.config import FeatureConfig
from asr.features.mel import mel_filters
from asr.features.plp import plp_cepstra
from asr.util.errors import FeatureError

_BLOCK = 256  # frames per block, so that spectra stay in the cache
LOUDER_FRAMES = 0.95  # quantile, so that a click does not count as speech
NATURAL = np.log(10.0) / 10.0  # natural logarithm of power, per dB


def mfcc(signal: np.ndarray, config: FeatureConfig) -> np.ndarray:
    """Return cepstra and energy of `signal` (n,), samples on the 16-bit scale: float32 (n_frames, n_cepstra + 1).

    With `kind = "fbank"` the first columns are the logarithms of the mel filters, (n_frames, n_filters + 1). With
    `kind = "plp"` they are cepstra of perceptual linear prediction (`asr.features.plp`).
    Columns are c1, ..., c12, then the log energy (before pre-emphasis and window) or c0; with `energy_first` the last
    column comes first. `dynamic_range_db` adds a floor to every mel band and the energy, relative to the louder frames.
    n_frames is 1 + (n - window) // shift, or 0 if the signal is shorter than a window. Raises FeatureError for a signal
    that is not one-dimensional or not finite.
    """
    signal = np.ascontiguousarray(signal)
    if signal.ndim != 1:
        raise FeatureError(f"The signal has shape {signal.shape}. Expected (n,).")
    if len(signal) and not np.isfinite([signal.min(), signal.max()]).all():
        number = int(np.isfinite(signal).argmin())
        raise FeatureError(
            f"The signal has values that are not finite: sample {number}, at {number / config.sample_rate:.3f} s, is "
            f"{signal[number]:g}."
        )
    if len(signal) < config.window_samples:
        return np.empty((0, config.n_coefficients + 1), np.float32)
    window, filters, transform = _constants(config)
    frames = np.lib.stride_tricks.sliding_window_view(signal, config.window_samples)[:: config.shift_samples]
    log_mel = np.empty((len(frames), filters.shape[1]))
    log_energy = np.empty(len(frames))
    for first in range(0, len(frames), _BLOCK):
        rows = slice(first, first + _BLOCK)
        block = frames[rows].astype(np.float64)
        if config.energy == "log":
            log_energy[rows] = np.log(np.maximum(np.einsum("tn,tn->t", block, block), config.log_floor))
        # x[0] has no predecessor in its frame and replaces it: (1 - k) x[0].
        block[:, 1:] -= config.preemphasis * block[:, :-1]
        block[:, 0] *= 1.0 - config.preemphasis
        block *= window
        spectrum = scipy.fft.rfft(block, config.fft_size, overwrite_x=True)
        power = np.square(spectrum.real) + np.square(spectrum.imag)
        log_mel[rows] = np.log(np.maximum(power @ filters, config.log_floor))
    log_mel = _in_range(log_mel, config.dynamic_range_db)
    features = np.empty((len(frames), config.n_coefficients + 1), np.float32)
    if config.energy == "log":
        features[:, -1] = _in_range(log_energy, config.dynamic_range_db)
    # product by blocks, so that results equal those of streaming bit by bit
    for first in range(0, len(frames), _BLOCK):
        rows = slice(first, first + _BLOCK)
        if config.kind == "plp":
            features[rows, : transform.shape[1]] = plp_cepstra(log_mel[rows], config) @ transform
        else:
            features[rows, : transform.shape[1]] = log_mel[rows] @ transform
    return np.roll(features, 1, axis=1) if config.energy_first else features


def _in_range(log_power: np.ndarray, decibels: float) -> np.ndarray:
    """Add a floor below the louder frames to log powers (n_frames, ...), in place.

    ln(exp L + exp(Q - R ln(10) / 10)), where Q is the 95 % quantile of L over the frames and R is in dB; 0 adds none.
    """
    if decibels:
        columns = log_power[:, None] if log_power.ndim == 1 else log_power
        for band in columns.T:  # one by one and in place, because an hour of speech has 75 MB of them
            np.logaddexp(band, np.quantile(band, LOUDER_FRAMES) - decibels * NATURAL, out=band)
    return log_power


@lru_cache(maxsize=8)
def _constants(config: FeatureConfig) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the Hamming window (n,), filter bank (n_bins, n_filters), and liftered DCT (n_filters, columns).

    With `kind = "plp"`, the last matrix selects and lifters cepstra, (n_cepstra + 1, columns).
    """
    window = np.hamming(config.window_samples)
    filters = mel_filters(config.sample_rate, config.fft_size, config.n_filters, config.low_hz, config.high_hz)
    if config.kind == "fbank":
        return window, np.ascontiguousarray(filters.T), np.eye(config.n_filters)
    orders = np.arange(config.n_cepstra + 1)
    if config.kind == "plp":
        cepstra = np.eye(config.n_cepstra + 1)
    else:
        cepstra = scipy.fft.dct(np.eye(config.n_filters), type=2, norm="ortho", axis=1)[:, orders]
    if config.lifter:
        cepstra *= 1.0 + config.lifter / 2 * np.sin(np.pi * orders / config.lifter)
    columns = np.append(orders[1:], 0) if config.energy == "c0" else orders[1:]
    return window, np.ascontiguousarray(filters.T), np.ascontiguousarray(cepstra[:, columns])
