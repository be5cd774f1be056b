"""Robust estimates of the mean squared error from residuals (Suykens et al. 2002, section 5.3)."""

from collections.abc import Callable, Mapping

import numpy as np

_TRIMMED = 0.2  # fraction of the largest squares left out
_HUBER = 1.5 * 1.4826  # median absolute residuals at which the loss becomes linear
_NORMAL_RANGE = 1.349  # interquartile range of the standard normal distribution


def mean_square(residuals: np.ndarray) -> float:
    """Return the mean square of residuals (n_samples,)."""
    return float(np.mean(residuals**2))


def huber_mean(residuals: np.ndarray) -> float:
    """Return the mean of Huber's loss: squares up to 1.5 standard deviations, linear above.

    The deviation is 1.4826 times the median absolute residual. It is the mean square if most residuals are 0.
    """
    size = np.abs(residuals)
    knee = _HUBER * float(np.median(size))
    return (
        mean_square(residuals) if knee == 0 else float(np.where(size > knee, (2 * size - knee) * knee, size**2).mean())
    )


def trimmed_mean(residuals: np.ndarray) -> float:
    """Return the mean of all squares but the largest fifth, the (0, 0.2)-trimmed mean (5.27, 5.39)."""
    n_kept = residuals.shape[0] - int(_TRIMMED * residuals.shape[0])
    return float(np.sort(residuals**2)[:n_kept].mean())


def interquartile_variance(residuals: np.ndarray) -> float:
    """Return the variance of a normal variable with the same interquartile range."""
    low, high = np.quantile(residuals, [0.25, 0.75])
    return float(((high - low) / _NORMAL_RANGE) ** 2)


MEANS: Mapping[str, Callable[[np.ndarray], float]] = {
    "leave_one_out": mean_square,
    "huber": huber_mean,
    "trimmed": trimmed_mean,
    "interquartile": interquartile_variance,
}
"""Estimates from leave-one-out residuals, by criterion."""
