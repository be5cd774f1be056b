"""Confidences of recognized words: lattice posteriors, calibrated by the search settings."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from asr.acoustic.search_settings import ConfidenceSettings
from asr.decode.path_segments import Segment
from asr.lattices.lattice import Lattice
from asr.lattices.minimum_bayes_risk import mbr_decode
from asr.lattices.posteriors import arc_posteriors, default_scale, word_fits, word_posteriors

log = logging.getLogger(__name__)

_CLOSEST = 1e-5
"""Minimum distance of posteriors from 0 and 1, which keeps their log odds finite."""


@dataclass(frozen=True)
class ConfidenceFeatures:
    """Features that separate right words from wrong ones."""

    posteriors: np.ndarray  # float64 (n_words,)
    fits: np.ndarray  # float64 (n_words,), from `word_fits`
    frames: np.ndarray  # float64 (n_words,): durations, at least 1


def evidence(lattice: Lattice, segments: Sequence[Segment], settings: ConfidenceSettings | None) -> ConfidenceFeatures:
    """Return the features of timed words at the settings' scale; existing confidences are used as posteriors."""
    posterior = arc_posteriors(lattice, posterior_scale(lattice, settings))
    given = [segment.confidence for segment in segments]
    return ConfidenceFeatures(
        np.array(word_posteriors(lattice, segments, posterior) if None in given else given, np.float64),
        word_fits(lattice, segments, posterior),
        np.array([max(1, segment.end - segment.start) for segment in segments], np.float64),
    )


def calibrated(words: ConfidenceFeatures, settings: ConfidenceSettings) -> np.ndarray:
    """Return confidences, float64 (n_words,)."""
    value = (
        settings.offset
        + settings.slope * log_odds(words.posteriors)
        + settings.fit * words.fits
        + settings.duration * np.log(words.frames)
    )
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(value, -50.0, 50.0))))


def log_odds(posteriors: np.ndarray) -> np.ndarray:
    """Return ln(p / (1 - p)), float64 (n,), with p clipped away from 0 and 1."""
    kept = np.clip(posteriors, _CLOSEST, 1.0 - _CLOSEST)
    return np.asarray(np.log(kept / (1.0 - kept)))


def with_confidence(
    lattice: Lattice, segments: Sequence[Segment], settings: ConfidenceSettings | None
) -> list[Segment]:
    """Return the words with confidences; without settings these are the posteriors."""
    if settings is None:
        found = word_posteriors(lattice, segments, arc_posteriors(lattice))
    else:
        found = calibrated(evidence(lattice, segments, settings), settings).tolist()
    return [replace(segment, confidence=one) for segment, one in zip(segments, found, strict=True)]


def mbr_segments(lattice: Lattice, settings: ConfidenceSettings | None) -> list[Segment]:
    """Return the minimum-Bayes-risk words with confidences and times (`asr.lattices.minimum_bayes_risk`)."""
    segments = mbr_decode(lattice, posterior_scale(lattice, settings)).segments
    return segments if settings is None else with_confidence(lattice, segments, settings)


def log_calibration(settings: ConfidenceSettings | None, *, own_grammar: bool) -> None:
    """Log when confidences may be too high."""
    if settings is None:
        log.info(
            "the confidences of this model are not calibrated (no held-out words, or too few errors in them), so "
            "they are too high. Use asr tune to calibrate them"
        )
    elif not own_grammar:
        log.info(
            "the confidences of this model are calibrated for the grammar of its tuning and may be too high with "
            "another grammar. Use asr tune with --grammar (grammar=) to calibrate them"
        )


def posterior_scale(lattice: Lattice, settings: ConfidenceSettings | None) -> float:
    """Return the factor on the lattice's scores."""
    return default_scale(lattice) * (1.0 if settings is None else settings.scale)
