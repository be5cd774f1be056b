"""Kernel widths for "scale"."""

from collections.abc import Iterator

import numpy as np

from discriminants.kernels.kernel import SMALLEST, positive

_ROWS = 65536  # rows per float64 copy


def resolve_sigma(
    sigma: float | str | np.ndarray, X: np.ndarray, sample_weight: np.ndarray | None = None, *, order: int = 2
) -> float | np.ndarray:
    """Return the width (or one width per center) of a `sigma` parameter for the data X.

    "scale" is the root of the summed (weighted) feature variances, 1 if X is constant: two samples are then about 1.4
    widths apart. With `order=1`, for city-block distances, it is the sum of the standard deviations. Raises ValueError
    if sigma is neither "scale" nor positive and finite, or if no sample has a positive weight.
    """
    if not isinstance(sigma, str):
        return positive("sigma", sigma)
    if sigma != "scale":
        raise ValueError(f'sigma must be "scale" or a positive number, got {sigma!r}')
    deviations = feature_deviations(X, sample_weight)
    largest = float(deviations.max(initial=0.0))
    # Below the smallest normal number a width has no inverse; X then also counts as constant.
    return largest * float(np.linalg.norm(deviations / largest, ord=order)) if largest >= SMALLEST else 1.0


def feature_deviations(X: np.ndarray, sample_weight: np.ndarray | None = None) -> np.ndarray:
    """Return (weighted) standard deviations, float64 (n_features,); 0 if a feature varies only by rounding.

    Raises ValueError if no sample has a positive weight.
    """
    weight = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    total = float(weight.sum())
    if not total > 0.0:
        raise ValueError("sigma = 'scale' cannot be computed: no sample has a positive weight")
    largest = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
    # Scaling by a power of two is exact, and prevents overflow of the squares.
    factor = 2.0 ** -float(np.clip(np.frexp(largest.max(initial=0.0))[1], -1022, 1022))

    def blocks() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for start in range(0, X.shape[0], _ROWS):
            rows = slice(start, start + _ROWS)
            yield weight[rows], X[rows] * np.float64(factor)

    mean = sum(w @ scaled for w, scaled in blocks()) / total
    deviations = np.sqrt(sum(w @ (scaled - mean) ** 2 for w, scaled in blocks()) / total)
    precision = float(np.finfo(X.dtype if X.dtype.kind == "f" else np.float64).eps)
    deviations[deviations <= 10.0 * precision * factor * largest] = 0.0
    return deviations / factor
