"""Sample weights from residuals, which turn least squares into a robust loss."""

from collections.abc import Callable

import numpy as np

_NORMAL = 1.4826  # standard deviation of a normal variable divided by its median absolute value
_LEAST = 1e-4  # weight of an outlier: the system stays regular (Suykens et al. 2002, 5.15)


def robust_scale(residuals: np.ndarray, weight: np.ndarray) -> float:
    """Compute 1.4826 times the weighted median absolute deviation from the median."""
    deviations = np.abs(residuals - _median(residuals, weight))
    return _NORMAL * _median(deviations, weight)


def _median(values: np.ndarray, weight: np.ndarray) -> float:
    return float(np.quantile(values, 0.5, weights=weight, method="inverted_cdf"))


def cut_weights(t: np.ndarray) -> np.ndarray:
    """Return 1 up to 2.5, then a linear decrease to the least weight at 3 (Suykens et al. 2002, 5.15)."""
    return 2.0 * (3.0 - np.abs(t))


def huber_weights(t: np.ndarray) -> np.ndarray:
    """Return 1 up to 1.5, then 1.5 / |t|: quadratic, then linear loss (Suykens et al. 2002, section 5.3.3)."""
    return 1.5 / np.maximum(np.abs(t), 1.5)


def hampel_weights(t: np.ndarray) -> np.ndarray:
    """Return psi(t) / t; psi rises to 1.7, is constant to 3.4 and falls to 0 at 8.5 (Suykens et al. 2002, section
    5.3.3).
    """
    size = np.maximum(np.abs(t), 1.7)
    return 1.7 / size * np.minimum(1.0, (8.5 - size) / 5.1)


def tukey_weights(t: np.ndarray) -> np.ndarray:
    """Return Tukey's biweight (1 - (t / a)^2)^2 up to a = 4.685, with 95 % efficiency for normal errors."""
    return np.maximum(1.0 - (t / 4.685) ** 2, 0.0) ** 2


def andrews_weights(t: np.ndarray) -> np.ndarray:
    """Return sin(t) / t up to pi, then 0 (Suykens et al. 2002, 5.22)."""
    return np.where(np.abs(t) < np.pi, np.sinc(t / np.pi), 0.0)


def logistic_weights(t: np.ndarray) -> np.ndarray:
    """Return tanh(t) / t, of the loss log cosh t: quadratic near zero, then linear."""
    size = np.maximum(np.abs(t), 1e-8)
    return np.tanh(size) / size


_OF_LOSS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "cut": cut_weights,
    "huber": huber_weights,
    "hampel": hampel_weights,
    "tukey": tukey_weights,
    "andrews": andrews_weights,
    "logistic": logistic_weights,
}
LOSSES = tuple(_OF_LOSS)


def robust_weights(
    residuals: np.ndarray, loss: str | Callable[[np.ndarray], np.ndarray], weight: np.ndarray
) -> np.ndarray:
    """Compute the weight of each sample, 1e-4 to 1, from its residual in units of the robust scale.

    `loss` is one of `LOSSES`, or a function that computes weights.

    Returns ones if more than half of the residuals are equal, because the scale is then zero. `weight` counts the
    samples for the scale.
    """
    scale = robust_scale(residuals, weight)
    if not scale > 0:
        return np.ones_like(residuals)
    of_residuals = loss if callable(loss) else _OF_LOSS[loss]
    return np.clip(of_residuals(residuals / scale), _LEAST, 1.0)
