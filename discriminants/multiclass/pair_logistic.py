"""Logistic regression of a pair of classes on the kernel values of their centres, by Newton's method."""

import numpy as np
from scipy.linalg import blas
from scipy.special import expit

_MAX_STEPS = 30
_TOLERANCE = 1e-4  # fall of the objective, relative, that ends the descent
_HALVINGS = 10
_RIDGE = 1e-7  # relative, on the diagonal of the Hessian: samples that are told surely have hardly a curvature


def logistic_pair(K: np.ndarray, targets: np.ndarray, penalty: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights and bias of the smallest sum of log(1 + exp(-t f)) + w' P w / 2, f = K w + b.

    Newton's method (iteratively reweighted least squares: Hastie, Tibshirani and Friedman 2009, 4.4.1); steps are
    halved until the objective falls, so it never rises.

    Parameters
    ----------
    K : ndarray of shape (n_samples, m), float64
    targets : ndarray of shape (n_samples,)
        -1 or +1.
    penalty : ndarray of shape (m, m)
        P, positive semidefinite. The bias is free.

    Returns
    -------
    weights : ndarray of shape (m,)
    bias : float
    """
    columns = np.hstack([K, np.ones((K.shape[0], 1))])
    single = columns.astype(np.float32)  # for the Hessian, which only points the way: its product takes the time
    P = np.pad(penalty, (0, 1))
    theta = np.zeros(columns.shape[1])

    def at(theta: np.ndarray) -> tuple[np.ndarray, float]:
        outputs = columns @ theta
        return outputs, float(np.logaddexp(0.0, -targets * outputs).sum() + 0.5 * theta @ P @ theta)

    outputs, value = at(theta)
    for _ in range(_MAX_STEPS):
        wrong = expit(-targets * outputs)
        gradient = P @ theta - columns.T @ (targets * wrong)
        scaled = single * np.sqrt(wrong * (1.0 - wrong)).astype(np.float32)[:, None]
        hessian = blas.ssyrk(1.0, scaled.T).astype(np.float64)
        hessian += np.triu(hessian, 1).T + P
        hessian[np.diag_indices_from(hessian)] += _RIDGE * np.trace(hessian) / theta.shape[0]
        step = np.linalg.solve(hessian, gradient)
        before = value
        for halving in range(_HALVINGS):
            moved = theta - 0.5**halving * step
            outputs, value = at(moved)
            if value <= before:
                break
        else:
            return theta[:-1], float(theta[-1])
        theta = moved
        if before - value <= _TOLERANCE * value:
            break
    return theta[:-1], float(theta[-1])
