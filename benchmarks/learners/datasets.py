"""The four sets with a fixed split, scaled as in `settings`, and synthetic ones for tests and streams."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

NAMES = ("letter", "usps", "a9a", "shuttle")


@dataclass(frozen=True)
class Split:
    """Training and test samples, float64, and class numbers from 0."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def part(self, n_train: int, n_test: int) -> "Split":
        """Return the first training and test samples; classes missing in training are removed from the test part."""
        X_test, y_test = self.X_test[:n_test], self.y_test[:n_test]
        known = np.isin(y_test, self.y[:n_train])
        return Split(self.X[:n_train], self.y[:n_train], X_test[known], y_test[known])


def load(folder: Path, name: str) -> Split:
    """Load one of `NAMES`.

    Letter (0 to 15) is scaled to [-1, 1], USPS and a9a are not scaled, shuttle is scaled to mean zero and variance one
    over the training samples.
    """
    with np.load(folder / ("large" if name in ("a9a", "shuttle") else ".") / f"{name}.npz", allow_pickle=False) as file:
        X, X_test = (file[f"x_{part}"].astype(np.float64) for part in ("train", "test"))
        classes, y = np.unique(file["y_train"], return_inverse=True)
        y_test = np.searchsorted(classes, file["y_test"])
    if name == "letter":
        X, X_test = X / 7.5 - 1.0, X_test / 7.5 - 1.0
    if name == "shuttle":
        mean, deviation = X.mean(axis=0), X.std(axis=0)
        X, X_test = (X - mean) / deviation, (X_test - mean) / deviation
    return Split(X, y, X_test, y_test)


def clusters(n_samples: int, n_features: int, n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw three overlapping Gaussian clusters per class, float32, with the same centers for all seeds, and class
    numbers.
    """
    centers = np.random.default_rng(0).standard_normal((n_classes, 3, n_features), dtype=np.float32)
    random = np.random.default_rng(seed)
    y = random.integers(n_classes, size=n_samples)
    X = centers[y, random.integers(3, size=n_samples)]
    X += 0.6 * random.standard_normal(X.shape, dtype=np.float32)
    return X, y
