"""How well each of several penalties would do on new samples, without any being held out."""

from collections.abc import Sequence

import numpy as np

from discriminants.linear_systems.penalty_path import PenaltyPath
from discriminants.linear_systems.weighted_ridge import WeightedRidge

CRITERIA = ("leave_one_out", "gcv")


def expected_squares(
    K: np.ndarray,
    targets: np.ndarray,
    regularizations: Sequence[float],
    criterion: str,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """Estimates of the mean squared error on a new sample, summed over the outputs.

    Without weights, or where all are one, all penalties come from one eigendecomposition (`PenaltyPath`), with others
    each from a factorisation of its own.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples), float64
        Left as it is.
    targets : ndarray of shape (n_samples, n_outputs)
    regularizations : sequence of float
        Each positive.
    criterion : {"leave_one_out", "gcv"}
        The mean square of the leave-one-out residuals, or generalised cross-validation (Suykens et al. 2002, 2.59).
    weight : ndarray of shape (n_samples,), optional

    Returns
    -------
    ndarray of shape (len(regularizations),)

    Raises
    ------
    ValueError
        As `PenaltyPath` and `WeightedRidge`.
    """
    if weight is None or (weight == 1).all():
        path = PenaltyPath(K.copy(), "kernel")
        if criterion == "gcv":
            return path.generalised_cross_validation(targets, regularizations)
        outputs = path.leave_one_out_outputs(targets, regularizations)
        return ((targets - outputs) ** 2).mean(axis=1).sum(axis=1)
    found = []
    for regularization in regularizations:
        solution = WeightedRidge(K.copy(), targets, regularization, weight)
        if criterion == "gcv":
            found.append(solution.generalised_cross_validation())
        else:
            squares = solution.leave_one_out_residuals() ** 2
            found.append(float((weight @ squares).sum() / weight.sum()))
    return np.array(found)
