"""Normalization to zero mean and unit deviation."""

import numpy as np

_CONSTANT = 1e-6  # a deviation below this fraction of the mean is rounding: the column is constant


class Moments:
    """Mean and variance of frames, merged block by block in float64 (Chan, Golub and LeVeque, 1979)."""

    def __init__(self, dimension: int):
        self.count = 0
        self.mean = np.zeros(dimension)
        self.scatter = np.zeros(dimension)

    def add(self, frames: np.ndarray) -> None:
        """Add frames (T, dimension)."""
        if not len(frames):
            return
        mean = frames.mean(axis=0, dtype=np.float64)
        scatter = np.square(frames - mean).sum(axis=0)
        total = self.count + len(frames)
        shift = mean - self.mean
        self.scatter += scatter + np.square(shift) * (self.count * len(frames) / total)
        self.mean += shift * (len(frames) / total)
        self.count = total

    def normalizer(self) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and deviation, float32 (dimension,); a constant column has deviation 1 and becomes 0."""
        deviation = np.sqrt(self.scatter / max(self.count, 1))
        constant = deviation <= _CONSTANT * np.maximum(np.abs(self.mean), _CONSTANT)
        return self.mean.astype(np.float32), np.where(constant, 1.0, deviation).astype(np.float32)


def normalize(frames: np.ndarray, mean: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Return (frames - mean) / deviation, float32 (T, D)."""
    return (frames - mean) / deviation
