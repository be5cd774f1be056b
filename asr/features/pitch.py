"""Pitch and voicing of every frame, for tone languages.

The tracker is librosa's pYIN (Mauch and Dixon 2014). As in Kaldi (Ghahremani et al. 2014), the columns are log pitch,
continued through unvoiced frames, and the probability of voicing. The front end adds the differences and subtracts the
mean of the speaker or the corpus.
"""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from asr.features.config import FeatureConfig

N_COLUMNS = 2
_LOWEST, _HIGHEST = 60.0, 500.0  # Hz
_WINDOW = 0.048  # seconds, almost three periods of the lowest pitch
_CUTOFF = 800.0  # Hz of the low-pass (Markel 1972): upper harmonics of a moving pitch do not repeat
_RESOLUTION = 0.25  # semitones; 0.1 is three times as slow
_UNKNOWN = np.log(150.0)  # before the first voiced frame
_BLOCK, _BEFORE, _AFTER = 50, 25, 25  # frames of one search: those kept, and their context
LOOKAHEAD = _BLOCK + _AFTER
"""Largest number of further frames that a frame of a stream waits for."""


class PitchTracker:
    """Log pitch and voicing of a stream of samples.

    The best path of pYIN is found in blocks of 50 frames, each with 25 frames of context on both sides. Batch and
    stream have the same blocks, so both give the same numbers, and memory does not grow with the recording.
    """

    def __init__(self, config: "FeatureConfig"):
        from scipy.signal import firwin  # slow to import, and few models use pitch

        self._rate, self._shift = config.sample_rate, config.shift_samples
        self._length = max(config.window_samples, int(_WINDOW * self._rate))
        before = (self._length - config.window_samples) // 2  # centers each window in the frame's own window
        self._padding = self._length - config.window_samples - before
        self._low_pass = firwin(int(0.01 * self._rate) | 1, min(_CUTOFF, 0.45 * self._rate), fs=self._rate)
        self._samples = np.zeros(before, np.float32)
        self._first = self._done = 0  # frames: first of the samples, next to return
        self._last: float | None = None  # log pitch of the frame before

    def push(self, samples: np.ndarray) -> np.ndarray:
        """Add samples (n,); return the rows (T, 2) that are now complete."""
        self._samples = np.concatenate([self._samples, np.asarray(samples, np.float32)])
        return self._rows(_AFTER)

    def finish(self) -> np.ndarray:
        """Return the remaining rows (T, 2) after the last samples."""
        self._samples = np.pad(self._samples, (0, self._padding))
        return self._rows(1 - _BLOCK)

    def _rows(self, needed: int) -> np.ndarray:
        """Return the rows of all blocks that have `needed` frames after their end."""
        rows = [np.empty((0, N_COLUMNS), np.float32)]
        n_frames = self._first + max(0, (len(self._samples) - self._length) // self._shift + 1)
        while self._done + _BLOCK + needed <= n_frames:
            begin, end = max(self._done - _BEFORE, 0), min(self._done + _BLOCK + _AFTER, n_frames)
            self._samples = self._samples[(begin - self._first) * self._shift :]
            self._first = begin
            found = self._continued(self._samples[: (end - 1 - begin) * self._shift + self._length])
            rows.append(found[:_BLOCK])
            self._done += len(rows[-1])
        return np.concatenate(rows)

    def _continued(self, samples: np.ndarray) -> np.ndarray:
        """Return the rows of a block and the frames after it; log pitch is interpolated between voiced frames."""
        from discriminants.util import numba_cache  # noqa: F401, I001 (before librosa, which compiles when imported)
        import librosa
        from scipy.signal import fftconvolve

        pitch, voiced, probability = librosa.pyin(
            fftconvolve(samples, self._low_pass, "same"),
            fmin=_LOWEST,
            fmax=min(_HIGHEST, self._rate / 2),
            sr=self._rate,
            frame_length=self._length,
            hop_length=self._shift,
            center=False,
            resolution=_RESOLUTION,
            fill_na=None,
        )
        skipped = self._done - self._first
        log_pitch, voiced, probability = np.log(pitch[skipped:]), voiced[skipped:], probability[skipped:]
        at, values = np.flatnonzero(voiced), log_pitch[voiced]
        if self._last is not None:
            at, values = np.append(-1, at), np.append(self._last, values)
        continued = np.interp(np.arange(len(voiced)), at, values) if len(at) else np.full(len(voiced), _UNKNOWN)
        if len(at):
            self._last = continued[:_BLOCK][-1]
        return np.stack([continued, probability], axis=1).astype(np.float32)


def pitch_features(signal: np.ndarray, config: "FeatureConfig") -> np.ndarray:
    """Return log pitch (natural logarithm of Hz) and voicing (0 to 1) of samples (n,): float32 (n_frames, 2).

    The frames are those of `asr.features.mfcc.mfcc`. Pitch is searched from 60 to 500 Hz.
    """
    tracker = PitchTracker(config)
    return np.concatenate([tracker.push(signal), tracker.finish()])
