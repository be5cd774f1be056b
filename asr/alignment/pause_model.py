"""Model of pauses and speech, for evidence of pauses in a recording with its own noise.

Background noise is the same between, before and after the words of a recording. A small mixture of all pauses is
compared with a mixture of all speech. A Gaussian of the recording's own pauses, as far as they are known, is added to
the pauses: frames that either explains may be a pause.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from asr.features.frame_table import FrameTable
from asr.features.speaker_background import MIN_FRAMES, SmallMixture, fit_mixture, thinned
from discriminants.util.blas_threads import one_blas_thread

ROUNDS = 3  # of finding pauses, each with the previous result
GUIDANCE = 2.0  # weight of evidence relative to the log-likelihoods of states
CERTAIN = 4.0  # natural log: evidence for speech outside pauses, and the maximum for a pause

_SMOOTHED = 0.05  # seconds over which positions and evidence are averaged
_SHORTEST = 0.2  # seconds of a pause; closures of stops and weak fricatives are shorter
_SMALLEST, _LARGEST = 1e-60, 1e30  # variance and number in a model file
_BLOCK = 8192  # frames copied at a time (80 s)
_COMPONENTS = 8  # of each of the two mixtures
_FLOOR = 0.01  # their minimum variance, as a fraction of that of all frames
_MIN_OWN = 10  # minimum number of frames of a recording's pauses for their own Gaussian
_OWN_PRIOR = 20.0  # weight, in frames, of the usual variance within a recording's pauses


@dataclass(frozen=True)
class PauseSounds:
    """Models of pauses and speech."""

    pause: SmallMixture
    speech: SmallMixture
    spread: np.ndarray  # float64 (n_features,); variance within the pauses of a recording
    frame_shift: float = 0.01  # seconds between frames

    @classmethod
    def learnt(
        cls, table: FrameTable, paused: np.ndarray, spoken: np.ndarray, frame_shift: float = 0.01
    ) -> Self | None:
        """Learn from the frames `paused` and `spoken`, bool (n_frames,); None if either has too few frames."""
        if min(paused.sum(), spoken.sum()) < _COMPONENTS * MIN_FRAMES:
            return None
        variance = thinned(table.frames).var(axis=0, dtype=np.float64)
        floor = _FLOOR * np.maximum(variance, np.finfo(np.float32).tiny)
        places = (thinned(np.flatnonzero(chosen)) for chosen in (paused, spoken))
        with one_blas_thread():
            pause, speech = (fit_mixture(table.frames[rows], _COMPONENTS, floor) for rows in places)
        return cls(pause, speech, np.maximum(_spread_within(table, paused), floor), frame_shift)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays for a model file."""
        found = {"spread": self.spread}
        for name, mixture in (("pause", self.pause), ("speech", self.speech)):
            found |= {f"{name}.{part}": array for part, array in vars(mixture).items()}
        return found

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], n_features: int, frame_shift: float) -> Self:
        """Rebuild from the arrays of `to_arrays`; ValueError or KeyError if they do not match `n_features`."""

        def mixture(name: str) -> SmallMixture:
            weights = arrays[f"{name}.weights"]
            n_components = len(weights) if weights.ndim == 1 else 0
            if not 1 <= n_components <= _COMPONENTS:
                raise ValueError(f"pauses.{name}.weights does not have 1 to {_COMPONENTS} components")
            checked(f"{name}.weights", (n_components,), _SMALLEST)
            checked(f"{name}.means", (n_components, n_features), -_LARGEST)
            checked(f"{name}.variances", (n_components, n_features), _SMALLEST)
            return SmallMixture(weights, arrays[f"{name}.means"], arrays[f"{name}.variances"])

        def checked(name: str, shape: tuple[int, ...], above: float) -> np.ndarray:
            array = arrays[name]
            if array.shape != shape or array.dtype != np.float64 or not np.all((array > above) & (array < _LARGEST)):
                raise ValueError(
                    f"pauses.{name} is not valid. Expected float64 of shape {shape}, from {above:g} to {_LARGEST:g}"
                )
            return array

        return cls(mixture("pause"), mixture("speech"), checked("spread", (n_features,), _SMALLEST), frame_shift)

    def of_recording(self, frames: np.ndarray) -> np.ndarray:
        """Return evidence for speech in an unknown recording, as natural log odds, float32 (n_frames,).

        As in `asr.alignment.pauses.pause_evidence`, it is `CERTAIN` outside of long pause-like runs, and at least
        `-CERTAIN` inside.
        """
        of_pause, of_speech = self.pause.log_density(frames), self.speech.log_density(frames)
        evidence = np.full(len(frames), CERTAIN, np.float32)
        for _ in range(1 + ROUNDS):
            evidence = self._evidence(of_pause, of_speech, frames, evidence < 0)
        return evidence

    def _evidence(
        self, of_pause: np.ndarray, of_speech: np.ndarray, frames: np.ndarray, paused: np.ndarray
    ) -> np.ndarray:
        count = np.count_nonzero(paused)
        if count >= _MIN_OWN:
            mean = sum(own.sum(axis=0) for own in _chosen(frames, paused)) / count
            squares = sum(np.square(own - mean).sum(axis=0) for own in _chosen(frames, paused))
            variance = (squares + _OWN_PRIOR * self.spread) / (count + _OWN_PRIOR)
            of_own = SmallMixture(np.ones(1), mean[None], variance[None]).log_density(frames)
            of_pause = np.logaddexp(of_pause, of_own)
        return in_long_runs(smoothed(of_speech - of_pause, self.frame_shift), self.frame_shift)


def _chosen(frames: np.ndarray, which: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the chosen frames, float64 (n, n_features), in blocks to save memory."""
    for first in range(0, len(frames), _BLOCK):
        rows = slice(first, first + _BLOCK)
        yield frames[rows][which[rows]].astype(np.float64)


def _spread_within(table: FrameTable, chosen: np.ndarray) -> np.ndarray:
    """Return the variance of the chosen frames about their mean in each utterance, float64 (n_features,)."""
    total, count = np.zeros(table.n_features), 0
    for number in range(len(table)):
        rows = table.rows(number)
        own = table.frames[rows][chosen[rows]].astype(np.float64)
        if len(own) >= _MIN_OWN:
            total += np.square(own - own.mean(axis=0)).sum(axis=0)
            count += len(own)
    return total / max(count, 1)


def in_long_runs(evidence: np.ndarray, frame_shift: float) -> np.ndarray:
    """Keep negative evidence, at least `-CERTAIN`, in runs that are long enough for a pause; the rest is `CERTAIN`."""
    found = np.full(len(evidence), CERTAIN, np.float32)
    shortest = max(1, round(_SHORTEST / frame_shift))
    for start, end in runs(evidence < 0):
        if end - start >= shortest:
            found[start:end] = np.maximum(evidence[start:end], -CERTAIN)
    return found


def runs(mask: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield start and end of every run of true values of a bool array (n,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def smoothed(values: np.ndarray, frame_shift: float) -> np.ndarray:
    """Return the mean over 50 ms around each frame, over fewer frames at the ends, float64 (n,)."""
    width = max(1, round(_SMOOTHED / frame_shift))
    before = width // 2
    total = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    place = np.arange(len(values))
    first, last = np.maximum(place - before, 0), np.minimum(place - before + width, len(values))
    return (total[last] - total[first]) / (last - first)
