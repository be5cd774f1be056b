"""Logistic regression of a pair of classes on the kernel values of their centers, by Newton's method."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import blas
from scipy.special import expit

_MAX_STEPS = 30
_TOLERANCE = 1e-4  # relative decrease of the objective that ends the descent
_HALVINGS = 10
_RIDGE = 1e-7  # relative, on the diagonal of the Hessian: confidently classified samples have almost no curvature
_MIN_CURVATURE = 0.01  # of the largest: samples below it are omitted from the Hessian, not from the gradient


def logistic_pair(K: np.ndarray, targets: np.ndarray, penalty: np.ndarray) -> tuple[np.ndarray, float]:
    """Return weights (m,) and bias that minimize the sum of log(1 + exp(-t f)) + w' P w / 2 for targets t of -1 or +1.

    f = K w + b; `penalty` is P, positive semidefinite. The method is Newton's (iteratively reweighted least squares:
    Hastie, Tibshirani and Friedman 2009, 4.4.1). The objective along a step needs no product. Steps are halved until it
    decreases, so it never rises. They are doubled while that helps, because pairs with little overlap have outputs far
    beyond those of the first steps.
    """
    columns = np.hstack([K, np.ones((K.shape[0], 1))])
    single = columns.astype(np.float32)  # for the Hessian, which only sets the direction but takes most of the time
    P = np.pad(penalty, (0, 1))
    theta, outputs = np.zeros(columns.shape[1]), np.zeros(columns.shape[0])

    def objective(theta: np.ndarray, outputs: np.ndarray) -> float:
        return float(np.logaddexp(0.0, -targets * outputs).sum() + 0.5 * theta @ P @ theta)

    value = objective(theta, outputs)
    for _ in range(_MAX_STEPS):
        wrong = expit(-targets * outputs)
        step = -np.linalg.solve(_hessian(single, wrong * (1.0 - wrong), P), P @ theta - columns.T @ (targets * wrong))
        along = columns @ step
        length, moved = _line_search(lambda s: objective(theta + s * step, outputs + s * along), value)  # noqa: B023
        theta, outputs = theta + length * step, outputs + length * along
        fall, value = value - moved, moved
        if fall <= _TOLERANCE * value:
            break
    return theta[:-1], float(theta[-1])


def _hessian(single: np.ndarray, curvatures: np.ndarray, P: np.ndarray) -> np.ndarray:
    rows = np.flatnonzero(curvatures > _MIN_CURVATURE * curvatures.max())
    scaled = single[rows] * np.sqrt(curvatures[rows]).astype(np.float32)[:, None]
    hessian = blas.ssyrk(1.0, scaled.T).astype(np.float64)
    hessian += np.triu(hessian, 1).T + P
    hessian[np.diag_indices_from(hessian)] += _RIDGE * np.trace(hessian) / P.shape[0]
    return hessian


def _line_search(objective: Callable[[float], float], start: float) -> tuple[float, float]:
    """Return a step length, a power of two, and the objective there; 0 and `start` if no tested length helps."""
    length, value = 1.0, objective(1.0)
    if value > start:
        for _ in range(_HALVINGS):
            length /= 2.0
            value = objective(length)
            if value <= start:
                return length, value
        return 0.0, start
    while (further := objective(2.0 * length)) < value:
        length, value = 2.0 * length, further
    return length, value
