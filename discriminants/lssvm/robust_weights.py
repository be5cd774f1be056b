"""Weights of samples from their residuals, by which least squares becomes a loss that outliers cannot turn."""

from collections.abc import Callable

import numpy as np

_NORMAL = 1.4826  # deviation of a normal variable over the median of its absolute values
_LEAST = 1e-4  # weight of an outlier: the system stays regular (Suykens et al. 2002, 5.15)


def robust_scale(residuals: np.ndarray, weight: np.ndarray) -> float:
    """1.4826 times the median absolute deviation from the median, samples counted as often as their weight says."""
    deviations = np.abs(residuals - _median(residuals, weight))
    return _NORMAL * _median(deviations, weight)


def _median(values: np.ndarray, weight: np.ndarray) -> float:
    return float(np.quantile(values, 0.5, weights=weight, method="inverted_cdf"))


def cut_weights(t: np.ndarray) -> np.ndarray:
    """1 up to 2.5, then linear to the least at 3 (Suykens et al. 2002, 5.15)."""
    return 2.0 * (3.0 - np.abs(t))


def huber_weights(t: np.ndarray) -> np.ndarray:
    """1 up to 1.5, then 1.5 / |t|: quadratic, then linear loss (Suykens et al. 2002, section 5.3.3)."""
    return 1.5 / np.maximum(np.abs(t), 1.5)


def hampel_weights(t: np.ndarray) -> np.ndarray:
    """psi(t) / t, psi rising to 1.7, level to 3.4 and falling to 0 at 8.5 (Suykens et al. 2002, section 5.3.3)."""
    size = np.maximum(np.abs(t), 1.7)
    return 1.7 / size * np.minimum(1.0, (8.5 - size) / 5.1)


def tukey_weights(t: np.ndarray) -> np.ndarray:
    """Tukey's biweight (1 - (t / a)^2)^2 up to a = 4.685, with 95 % efficiency where errors are normal."""
    return np.maximum(1.0 - (t / 4.685) ** 2, 0.0) ** 2


_OF_LOSS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "cut": cut_weights,
    "huber": huber_weights,
    "hampel": hampel_weights,
    "tukey": tukey_weights,
}
LOSSES = tuple(_OF_LOSS)


def robust_weights(residuals: np.ndarray, loss: str, weight: np.ndarray) -> np.ndarray:
    """The weight of each sample, 1e-4 to 1, by a loss in `LOSSES` of its residual in units of the robust scale.

    Ones where more than half of the residuals are the same, and there is no scale. `weight` counts the samples for the
    scale.
    """
    scale = robust_scale(residuals, weight)
    if not scale > 0:
        return np.ones_like(residuals)
    return np.clip(_OF_LOSS[loss](residuals / scale), _LEAST, 1.0)
