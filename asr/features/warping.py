"""Vocal-tract length warps of cepstra: the same utterance with a longer or shorter vocal tract.

A warp of the frequency axis is a linear transform of the cepstra (Pitz and Ney 2005, "Vocal tract normalization equals
linear transformation in cepstral space"): evaluate the log mel spectrum of the cepstra at the warped frequencies and
transform back. So training data can be warped without the audio.
"""

from collections.abc import Sequence

import numpy as np

from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.mel import hertz_to_mel, mel_to_hertz
from asr.util.errors import FeatureError

BREAK = 0.8  # the warp is linear up to this fraction of the band, then bends to keep its upper end


def warped_hertz(hertz: np.ndarray, warp: float, high_hz: float) -> np.ndarray:
    """Return the piecewise linear warp: `warp` times the frequency up to the break, then linear up to high_hz."""
    turn = BREAK * high_hz * min(1.0, 1.0 / warp)
    slope = (high_hz - warp * turn) / (high_hz - turn)
    return np.where(hertz <= turn, warp * hertz, warp * turn + slope * (hertz - turn))


def warping_matrix(warp: float, config: FeatureConfig) -> np.ndarray:
    """Return the matrix A, float64 (n_cepstra, n_cepstra), for warped cepstra A @ c of c1, ..., cn.

    c0, a constant of the log spectrum, has no effect and is not changed here. Frequency f of the result is taken from
    `warp` times f: above 1 the vocal tract is longer. `config` describes filters, band and lifter of the cepstra.
    """
    high_hz = config.sample_rate / 2 if config.high_hz is None else config.high_hz
    low, high = hertz_to_mel(config.low_hz), hertz_to_mel(high_hz)
    if config.kind == "plp":  # the spectrum ends at the edges of the band, not at the outer filters
        step = (high - low) / config.n_filters
        first = low + step / 2
    else:
        step = (high - low) / (config.n_filters + 1)
        first = low + step
    places = mel_to_hertz(first + step * np.arange(config.n_filters))
    sources = (hertz_to_mel(warped_hertz(places, warp, high_hz)) - first) / step
    orders = np.arange(1, config.n_cepstra + 1)
    angle = np.pi * orders / config.n_filters
    forward = np.cos(np.outer(np.arange(config.n_filters) + 0.5, angle))
    warped = np.cos(np.outer(sources + 0.5, angle))
    matrix = 2.0 / config.n_filters * forward.T @ warped
    if config.lifter:
        lifter = 1.0 + config.lifter / 2 * np.sin(np.pi * orders / config.lifter)
        matrix = matrix * lifter[:, None] / lifter
    return matrix


def warped_copies(static: FrameTable, vtlp_warps: Sequence[float], config: FeatureConfig) -> FrameTable:
    """Append a copy for every warp, with utterances and speakers named `NAME/WARP`.

    Each warped speaker counts as another speaker in normalization. Raises FeatureError if the columns are not the
    cepstra and energy of `config`.
    """
    if vtlp_warps and not config.has_cepstra:
        raise FeatureError("vocal-tract warps need cepstra. Use vtlp_warps = [] for other features")
    if vtlp_warps and static.n_features != config.static_dimension:
        raise FeatureError(
            f"vocal-tract warps need {config.static_dimension} columns of [features], but the features "
            f"have {static.n_features}. Use vtlp_warps = [], or feature settings like those of the archive"
        )
    cepstra = slice(1, None) if config.energy_first else slice(0, config.n_cepstra)
    ids, speakers, frames = list(static.ids), list(static.speakers), [static.frames]
    for warp in vtlp_warps:
        copy = np.array(static.frames)
        copy[:, cepstra] = static.frames[:, cepstra] @ warping_matrix(warp, config).T.astype(np.float32)
        frames.append(copy)
        ids += [f"{name}/{warp:g}" for name in static.ids]
        speakers += [f"{name}/{warp:g}" for name in static.speakers]
    offsets = [static.offsets, *(static.offsets[1:] + n * static.n_frames for n in range(1, len(frames)))]
    return FrameTable(tuple(ids), tuple(speakers), np.concatenate(frames), np.concatenate(offsets))
