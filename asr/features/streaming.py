"""Streaming front end: the same numbers as in batch, as soon as the look-ahead allows."""

from collections.abc import Callable
from functools import partial

import numpy as np

from asr.features.config import FeatureConfig
from asr.features.deltas import append_slope, splice_padded
from asr.features.mfcc import mfcc
from asr.features.pitch import PitchTracker
from asr.util.errors import FeatureError


class Lookahead:
    """Applies a function of rows t - width, ..., t + width to a growing sequence.

    At either end the first or last row is repeated. `function` takes (T + 2 width, n) and returns results for the T
    inner rows.
    """

    def __init__(self, function: Callable[[np.ndarray], np.ndarray], width: int):
        self.function, self.width = function, width
        self._rows: np.ndarray | None = None

    def push(self, rows: np.ndarray) -> np.ndarray:
        """Add rows (T, n); return the results that are now complete."""
        if self._rows is None:
            if not len(rows):
                return self.function(np.empty((2 * self.width, rows.shape[1]), np.float32))
            rows = np.concatenate([np.repeat(rows[:1], self.width, axis=0), rows])
        else:
            rows = np.concatenate([self._rows, rows])
        complete = max(len(rows) - 2 * self.width, 0)
        result = self.function(rows if complete else np.empty((2 * self.width, rows.shape[1]), np.float32))
        self._rows = rows[complete:]
        return result

    def finish(self, rows: np.ndarray) -> np.ndarray:
        """Add the last rows (T, n); return all remaining results."""
        result = self.push(rows)
        if self._rows is None:
            return result
        return np.concatenate([result, self.push(np.repeat(self._rows[-1:], self.width, axis=0))])


class StreamingFrontEnd:
    """Frames from a stream of samples; made by `FrontEnd.stream`.

    `normalize` and `project` map single frames, (T, n) to (T, m). A frame is returned once delta_window * delta_order +
    context further frames are known. With `pitch` it waits for 75 frames more.
    """

    def __init__(
        self,
        config: FeatureConfig,
        normalize: Callable[[np.ndarray], np.ndarray],
        project: Callable[[np.ndarray], np.ndarray],
    ):
        self.config = config
        self._normalize, self._project = normalize, project
        self._samples = np.empty(0, np.float32)
        self._pitch = PitchTracker(config) if config.pitch else None
        self._cepstra = np.empty((0, config.n_coefficients + 1), np.float32)  # frames without pitch so far
        slope = partial(append_slope, window=config.delta_window, dimension=config.static_dimension)
        self._deltas = [Lookahead(slope, config.delta_window) for _ in range(config.delta_order)]
        self._splice = Lookahead(partial(splice_padded, context=config.context), config.context)
        self._finished = False

    def push(self, samples: np.ndarray) -> np.ndarray:
        """Add samples (n,) on the 16-bit scale at the model's rate; return the frames that are now complete."""
        frames = self._static(samples)
        for stage in self._deltas:
            frames = stage.push(frames)
        return self._project(self._splice.push(self._normalize(frames)))

    def finish(self) -> np.ndarray:
        """Return the remaining frames after the last samples: (T, n_features)."""
        frames = self._static(np.empty(0, np.float32), last=True)
        self._finished = True
        for stage in self._deltas:
            frames = stage.finish(frames)
        return self._project(self._splice.finish(self._normalize(frames)))

    def _static(self, samples: np.ndarray, *, last: bool = False) -> np.ndarray:
        if self._finished:
            raise FeatureError("The stream is finished. Start a new one for the next utterance.")
        self._samples = np.concatenate([self._samples, np.asarray(samples, dtype=np.float32)])
        frames = mfcc(self._samples, self.config)
        self._samples = self._samples[len(frames) * self.config.shift_samples :]
        if self._pitch is None:
            return frames
        pitch = self._pitch.push(samples)
        if last:
            pitch = np.concatenate([pitch, self._pitch.finish()])
        cepstra = np.concatenate([self._cepstra, frames])
        self._cepstra = cepstra[len(pitch) :]
        return np.hstack([cepstra[: len(pitch)], pitch])
