"""How sure the words of a recognition are: posteriors from its lattices, calibrated by the search settings."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from asr.acoustic.search_settings import ConfidenceSettings
from asr.decode.path_segments import Segment
from asr.lattices.lattice import Lattice
from asr.lattices.minimum_bayes_risk import least_risk
from asr.lattices.posteriors import default_scale, word_posteriors

_CLOSEST = 1e-5
"""To 0 and 1 that a posterior counts: the next word may be the first that is wrong."""


def calibrated(posteriors: Iterable[float], settings: ConfidenceSettings | None) -> list[float]:
    """Confidences of posteriors; the posteriors themselves without settings."""
    if settings is None:
        return list(posteriors)
    value = settings.offset + settings.slope * log_odds(posteriors)
    return [float(one) for one in 1.0 / (1.0 + np.exp(-np.clip(value, -50.0, 50.0)))]


def log_odds(posteriors: Iterable[float]) -> np.ndarray:
    """ln(p / (1 - p)), float64 (n,), of probabilities kept away from 0 and 1."""
    kept = np.clip(np.array(list(posteriors), np.float64), _CLOSEST, 1.0 - _CLOSEST)
    return np.asarray(np.log(kept / (1.0 - kept)))


def with_confidence(
    lattice: Lattice, segments: Sequence[Segment], settings: ConfidenceSettings | None
) -> list[Segment]:
    """The words with their confidences."""
    found = calibrated(word_posteriors(lattice, segments, posterior_scale(lattice, settings)), settings)
    return [replace(segment, confidence=one) for segment, one in zip(segments, found, strict=True)]


def least_risk_segments(lattice: Lattice, settings: ConfidenceSettings | None) -> list[Segment]:
    """The words with the least expected errors, with confidences and times (`asr.lattices.minimum_bayes_risk`)."""
    segments = least_risk(lattice, posterior_scale(lattice, settings)).segments
    found = calibrated((segment.confidence or 0.0 for segment in segments), settings)
    return [replace(segment, confidence=one) for segment, one in zip(segments, found, strict=True)]


def posterior_scale(lattice: Lattice, settings: ConfidenceSettings | None) -> float:
    """What the lattice's scores are multiplied by, under the settings."""
    return default_scale(lattice) * (1.0 if settings is None else settings.scale)
