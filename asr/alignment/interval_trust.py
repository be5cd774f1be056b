"""Trust in the phones, the words and the transcript of one alignment, from 0 to 1, without other utterances.

Two measures are combined. The *fit* is the log likelihood ratio against a free phone loop per frame, as in
`asr.alignment.transcript_scores`. Logistic functions turn it into probabilities. The *sharpness* of a boundary is its
posterior probability to lie within two frames of its place, by the forward-backward recursions (Rabiner 1989, equations
19-27). They run over the units of the path, with scores scaled down because frames are not independent.

The trust of a phone or word is the product of the fit's probability and the sharpness of its two boundaries. The trust
of the transcript depends on the fit of the whole and that of the worst word.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from asr.decode.path_segments import (
    Segment,
    frame_scores,
    frame_states,
    phone_segments,
    unit_runs,
    word_segments,
)
from asr.decode.search_graph import transitions
from asr.decode.token_passing import BestPath
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology

SCALE = 0.1  # factor on the scores; the sharpness then has about the right mean
NEAR = 2  # frames, 20 ms by default
# Offset and slope of the logistic functions of the fit. Measurements: docs/lab-notes/wrong-transcripts.md.
PHONE, WORD, TRANSCRIPT = (3.0, 0.2), (2.3, 0.5), (2.5, 0.25)

_BAND = NEAR + 1  # units before and after that of the path which a frame may belong to


class IntervalTrust(NamedTuple):
    """Trust in an alignment and its parts, from 0 (wrong) to 1 (right)."""

    transcript: float
    words: tuple[float, ...]
    phones: tuple[float, ...]


def interval_trust(
    scores: np.ndarray,
    path: BestPath,
    graph: StateGraph,
    free: BestPath,
    loop: StateGraph,
    topology: Topology,
    self_loops: np.ndarray,
) -> IntervalTrust:
    """Return the trust in the phones and words of `path`, in order of time, and in the transcript.

    Parameters
    ----------
    scores : float32 (n_frames, n_states)
        Natural log-likelihoods.
    path : BestPath
        Alignment of the transcript, a path through `graph`.
    free : BestPath
        Best path through `loop`, from `asr.alignment.transcript_scores.phone_loop`.
    self_loops : float64 (n_units,)
        Probability of the self-loop of each unit.
    """
    ratios = frame_scores(path, graph, scores, topology, self_loops)
    ratios -= frame_scores(free, loop, scores, topology, self_loops)
    phones = phone_segments(path, graph, topology)
    words = word_segments(path, graph, topology)
    fits = np.array([ratios[phone.start : phone.end].mean() for phone in phones])
    starts = np.array([phone.start for phone in phones])
    word_fits = np.array([fits[(word.start <= starts) & (starts < word.end)].mean() for word in words])
    speech = np.maximum(frame_states(path, graph, topology), frame_states(free, loop, topology))
    whole = min(0.0, float(ratios.sum()) / max(1, int((speech >= len(topology.silence_states)).sum())))
    sharp = _sharpness_at(scores, path, graph, topology, self_loops)
    return IntervalTrust(
        float(_probability(whole + word_fits.min(initial=0.0), TRANSCRIPT)),
        tuple((_probability(word_fits, WORD) * _of_borders(words, sharp)).tolist()),
        tuple((_probability(fits, PHONE) * _of_borders(phones, sharp)).tolist()),
    )


def _probability(fit: np.ndarray, logistic: tuple[float, float]) -> np.ndarray:
    offset, slope = logistic
    return expit(offset + slope * fit)


def _of_borders(segments: Sequence[Segment], sharp: Mapping[int, float]) -> np.ndarray:
    return np.array([sharp[one.start] * sharp[one.end] for one in segments])


def _sharpness_at(
    scores: np.ndarray, path: BestPath, graph: StateGraph, topology: Topology, self_loops: np.ndarray
) -> dict[int, float]:
    """Return the sharpness by the first frame of each unit, and 1 for the beginning and end of the audio."""
    units, lengths = unit_runs(path, graph)
    borders = np.cumsum(lengths)[:-1].tolist()
    masses = boundary_sharpness(scores, units, lengths, topology, self_loops).tolist()
    return {0: 1.0, len(scores): 1.0, **dict(zip(borders, masses, strict=True))}


def boundary_sharpness(
    scores: np.ndarray, units: np.ndarray, lengths: np.ndarray, topology: Topology, self_loops: np.ndarray
) -> np.ndarray:
    """Return the posterior probability of each unit boundary within `NEAR` frames, float64 (n - 1,).

    `units` and `lengths`, int (n,), are those of a path (`asr.decode.path_segments.unit_runs`). A frame may belong to
    one of the units up to `NEAR` + 1 before or after its own.
    """
    n_units, n_frames = len(units), int(lengths.sum())
    own = np.repeat(np.arange(n_units), lengths)
    number = own[:, None] + np.arange(-_BAND, _BAND + 1)
    unit = units[np.clip(number, 0, n_units - 1)]
    stay, _ = transitions(self_loops)  # every path leaves every unit once, so only the frames that stay differ
    found = scores[np.arange(n_frames)[:, None], topology.unit_state[unit]] + stay[unit]
    scaled = np.where((number >= 0) & (number < n_units), SCALE * found, -np.inf)
    before, after = _forward(scaled, own), _forward(scaled[::-1, ::-1], own[::-1])[::-1, ::-1]
    places = np.cumsum(lengths)[:-1, None] + np.arange(-NEAR, NEAR + 1)
    inside = (places >= 1) & (places < n_frames)
    places = np.clip(places, 1, n_frames - 1)
    left = np.arange(n_units - 1)[:, None] + _BAND  # a unit has a frame or more, so both columns are in the band
    paths = before[places - 1, left - own[places - 1]] + after[places, left + 1 - own[places]]
    return np.minimum(1.0, np.where(inside, np.exp(paths - before[-1, _BAND]), 0.0).sum(axis=1))


def _forward(scaled: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the log sum over all paths that end in each unit of the band, float64 (n_frames, n_band).

    `own`, int (n_frames,), is the unit at the center of the band; it changes by one in the direction of the columns.
    """
    found = np.full((len(scaled), scaled.shape[1] + 2), -np.inf)
    found[0, 1 + _BAND] = scaled[0, _BAND]
    shifts = np.abs(np.diff(own)).tolist()
    n_band = scaled.shape[1]
    for frame, shift in enumerate(shifts, 1):
        earlier = found[frame - 1]
        same, entered = earlier[1 + shift : 1 + shift + n_band], earlier[shift : shift + n_band]
        found[frame, 1:-1] = scaled[frame] + np.logaddexp(same, entered)
    return found[:, 1:-1]
