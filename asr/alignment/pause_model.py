"""What pauses and speech sound like: evidence for either in a recording, whose own noise counts beside all others'.

What sounds between the words of a recording sounds before and after them too. So a small mixture of all pauses that
were heard stands against one of all speech, and beside it a Gaussian of the recording's own pauses, as far as they are
known: what either explains may be a pause.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from asr.features.frame_table import FrameTable
from asr.features.small_mixture import MIN_FRAMES, SmallMixture, fit_mixture, thinned
from discriminants.util.blas_threads import one_blas_thread

ROUNDS = 3  # in which pauses are found, each by what the last took for them
GUIDANCE = 2.0  # weight of evidence beside the log-likelihoods of states
CERTAIN = 4.0  # natural log: evidence for speech of frames that lie in no pause, and the most there is for a pause

_SMOOTHED = 0.05  # seconds over which positions and evidence are averaged
_SHORTEST = 0.2  # seconds of a pause; closures of stops and weak fricatives are shorter
_SMALLEST, _LARGEST = 1e-60, 1e30  # variance, number in a model file
_BLOCK = 8192  # frames of which there are copies at once: 80 s
_COMPONENTS = 8  # of each of the two mixtures
_FLOOR = 0.01  # their least variance, in parts of that of all frames
_MIN_OWN = 10  # frames of a recording's pauses from which they have a Gaussian of their own
_OWN_PRIOR = 20.0  # frames, as which the usual variance within a recording's pauses counts beside its own


@dataclass(frozen=True)
class PauseSounds:
    """What pauses and speech sound like.

    Attributes
    ----------
    pause, speech : SmallMixture
        Of all recordings.
    spread : float64 (n_features,)
        Variance within the pauses of a recording.
    frame_shift : float
        Seconds from one frame to the next.
    """

    pause: SmallMixture
    speech: SmallMixture
    spread: np.ndarray
    frame_shift: float = 0.01

    @classmethod
    def learnt(
        cls, table: FrameTable, paused: np.ndarray, spoken: np.ndarray, frame_shift: float = 0.01
    ) -> Self | None:
        """From frames `paused` and `spoken`, bool (n_frames,); None where either are too few to tell anything."""
        if min(paused.sum(), spoken.sum()) < _COMPONENTS * MIN_FRAMES:
            return None
        variance = thinned(table.frames).var(axis=0, dtype=np.float64)
        floor = _FLOOR * np.maximum(variance, np.finfo(np.float32).tiny)
        places = (thinned(np.flatnonzero(chosen)) for chosen in (paused, spoken))
        with one_blas_thread():
            pause, speech = (fit_mixture(table.frames[rows], _COMPONENTS, floor) for rows in places)
        return cls(pause, speech, np.maximum(_spread_within(table, paused), floor), frame_shift)

    def without(self, which: np.ndarray, pauses_a_frame: float) -> Self:
        """The same with some components of the pauses, bool (n_components,), but not all, among those of speech.

        `pauses_a_frame` is how many frames of pauses there are for one of speech.
        """
        pause, speech = self.pause, self.speech
        kept = SmallMixture(
            pause.weights[~which] / pause.weights[~which].sum(), pause.means[~which], pause.variances[~which]
        )
        weights = np.concatenate([speech.weights, pauses_a_frame * pause.weights[which]])
        more = SmallMixture(
            weights / weights.sum(),
            np.concatenate([speech.means, pause.means[which]]),
            np.concatenate([speech.variances, pause.variances[which]]),
        )
        return replace(self, pause=kept, speech=more)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """For a model file."""
        found = {"spread": self.spread}
        for name, mixture in (("pause", self.pause), ("speech", self.speech)):
            found |= {f"{name}.{part}": array for part, array in vars(mixture).items()}
        return found

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], n_features: int, frame_shift: float) -> Self:
        """What `to_arrays` gave.

        Raises ValueError or KeyError for arrays that cannot be of frames of so many numbers.
        """

        def mixture(name: str) -> SmallMixture:
            weights = arrays[f"{name}.weights"]
            n_components = len(weights) if weights.ndim == 1 else 0
            if not 1 <= n_components <= _COMPONENTS:
                raise ValueError(f"pauses.{name}.weights must be of 1 to {_COMPONENTS} components")
            checked(f"{name}.weights", (n_components,), _SMALLEST)
            checked(f"{name}.means", (n_components, n_features), -_LARGEST)
            checked(f"{name}.variances", (n_components, n_features), _SMALLEST)
            return SmallMixture(weights, arrays[f"{name}.means"], arrays[f"{name}.variances"])

        def checked(name: str, shape: tuple[int, ...], above: float) -> np.ndarray:
            array = arrays[name]
            if array.shape != shape or array.dtype != np.float64 or not np.all((array > above) & (array < _LARGEST)):
                raise ValueError(f"pauses.{name} must be float64 of shape {shape}, from {above:g} to {_LARGEST:g}")
            return array

        return cls(mixture("pause"), mixture("speech"), checked("spread", (n_features,), _SMALLEST), frame_shift)

    def of_table(self, table: FrameTable, paused: np.ndarray) -> np.ndarray:
        """Evidence for speech of frames some of which are taken for pauses, bool (n_frames,); float32 (n_frames,)."""
        found = np.full(table.n_frames, CERTAIN, np.float32)
        with one_blas_thread():
            for number in range(len(table)):
                rows = table.rows(number)
                found[rows] = self._evidence(*self._densities(table.frames[rows]), table.frames[rows], paused[rows])
        return found

    def of_recording(self, frames: np.ndarray) -> np.ndarray:
        """Evidence for speech of a recording of which nothing is known, a natural log of odds; float32 (n_frames,).

        As `asr.alignment.pauses.pause_evidence`: `CERTAIN` outside of long runs that sound like a pause, inside them
        down to `-CERTAIN`.
        """
        of_pause, of_speech = self._densities(frames)
        evidence = self._evidence(of_pause, of_speech, frames, np.zeros(len(frames), bool))
        for _ in range(ROUNDS):
            evidence = self._evidence(of_pause, of_speech, frames, evidence < 0)
        return evidence

    def _densities(self, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.pause.log_density(frames), self.speech.log_density(frames)

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
    """Yield the chosen frames, float64 (n, n_features), in blocks that cost little memory."""
    for first in range(0, len(frames), _BLOCK):
        rows = slice(first, first + _BLOCK)
        yield frames[rows][which[rows]].astype(np.float64)


def _spread_within(table: FrameTable, chosen: np.ndarray) -> np.ndarray:
    """Variance of the chosen frames about their mean in each utterance, float64 (n_features,)."""
    total, count = np.zeros(table.n_features), 0
    for number in range(len(table)):
        rows = table.rows(number)
        own = table.frames[rows][chosen[rows]].astype(np.float64)
        if len(own) >= _MIN_OWN:
            total += np.square(own - own.mean(axis=0)).sum(axis=0)
            count += len(own)
    return total / max(count, 1)


def in_long_runs(evidence: np.ndarray, frame_shift: float) -> np.ndarray:
    """The evidence of frames in runs below 0 that are long enough for a pause, at least `-CERTAIN`; else `CERTAIN`."""
    found = np.full(len(evidence), CERTAIN, np.float32)
    shortest = max(1, round(_SHORTEST / frame_shift))
    for start, end in runs(evidence < 0):
        if end - start >= shortest:
            found[start:end] = np.maximum(evidence[start:end], -CERTAIN)
    return found


def runs(mask: np.ndarray) -> Iterator[tuple[int, int]]:
    """Start and end of every run of true values of a bool array (n,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def smoothed(values: np.ndarray, frame_shift: float) -> np.ndarray:
    """Mean over 50 ms around each frame, over fewer at the ends, float64 (n,)."""
    width = max(1, round(_SMOOTHED / frame_shift))
    before = width // 2
    total = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    place = np.arange(len(values))
    first, last = np.maximum(place - before, 0), np.minimum(place - before + width, len(values))
    return (total[last] - total[first]) / (last - first)
