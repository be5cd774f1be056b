"""Estimated error of several penalties on new samples, without held-out samples."""

from collections.abc import Sequence

import numpy as np

from discriminants.kernels import Kernel
from discriminants.linear_systems.kernel_values import dictionary, kernel_matrix
from discriminants.linear_systems.penalty_path import PenaltyPath
from discriminants.linear_systems.weighted_ridge import WeightedRidge
from discriminants.util.sampling import distinct_rows

CRITERIA = ("leave_one_out", "gcv")
MAX_TO_CHOOSE_ON = 2000
"""Maximum number of samples for choosing among the usual penalties."""
_RELATIVE = 10.0 ** np.arange(-6, 2.5, 0.5)


def usual_penalties(K: np.ndarray, weight: float = 1.0, penalty: str = "kernel") -> list[float]:
    """Return 17 ascending penalties for samples of mean weight `weight`.

    They are 1e-6 to 100 times the variance of the samples in the kernel space, half a decade apart; for the penalty
    "identity" the squares of these. The penalty of kernel ridge regression is the noise variance divided by the
    variance of the curve (as in a Gaussian process), so the best one hardly depends on the number of samples.
    """
    variance = K.diagonal().mean() - K.mean()
    usual = _RELATIVE * weight * (variance if variance > 0 else 1.0)
    return [float(value) for value in (usual**2 if penalty == "identity" else usual)]


def penalty_given_or_chosen(
    regularization: float | str,
    kernel: Kernel,
    X: np.ndarray,
    targets: np.ndarray,
    penalty: str,
    K: np.ndarray | None = None,
    *,
    own_column: bool = False,
) -> float:
    """Return a given penalty, or for "auto" the usual one with the smallest leave-one-out squared error.

    K is the kernel matrix of X, if available. Raises ValueError as `PenaltyPath`.
    """
    if not isinstance(regularization, str):
        return float(regularization)
    rows, own, _ = part_to_choose_on(X, np.arange(X.shape[0]), targets.astype(np.float64))
    if K is not None and K.shape[1] == X.shape[0]:
        K = K[np.ix_(rows, rows)]
    else:
        of_part, centers = dictionary(kernel.at(rows), X[rows])
        K = kernel_matrix(of_part, X[rows], centers)
    penalties = usual_penalties(K, penalty=penalty)
    errors = expected_squares(K, own, penalties, "leave_one_out", penalty=penalty, own_column=own_column)
    return penalties[int(np.argmin(errors))]


def part_to_choose_on(
    X: np.ndarray, rows: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None, n_parts: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Draw samples for a choice among the usual penalties that takes about a second, merging equal ones.

    `rows` of X are the candidates, with `targets` (n_rows, n_outputs). With weights each penalty takes its own
    factorisation, so half as many samples are drawn. The second is divided between `n_parts` choices. Returns as
    `distinct_samples`, rows of X. Draws are always the same.
    """
    most = MAX_TO_CHOOSE_ON / np.cbrt(n_parts) / (1 if weight is None else 2)
    part = np.arange(rows.shape[0])
    if rows.shape[0] > most:
        part = np.sort(np.random.default_rng(0).choice(part, max(2, int(most)), replace=False))
    distinct, targets, weight = distinct_samples(X[rows[part]], targets[part], None if weight is None else weight[part])
    return rows[part[distinct]], targets, weight


def distinct_samples(
    X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Merge equal samples, for a choice by leave-one-out errors: duplicates would make them too small.

    Returns the first row of each, ascending, the weighted means of their targets (n_distinct, n_outputs), and the sums
    of their weights, None without weights.
    """
    first, which = distinct_rows(X)
    if first.shape[0] == X.shape[0]:
        return np.arange(X.shape[0]), targets, weight
    own = np.ones(X.shape[0]) if weight is None else weight
    sums = np.zeros((first.shape[0], targets.shape[1]))
    np.add.at(sums, which, own[:, None] * targets)
    total = np.bincount(which, own)
    return first, sums / total[:, None], None if weight is None else total


def expected_squares(
    K: np.ndarray,
    targets: np.ndarray,
    regularizations: Sequence[float],
    criterion: str,
    weight: np.ndarray | None = None,
    penalty: str = "kernel",
    own_column: bool = False,
    terms: np.ndarray | None = None,
) -> np.ndarray:
    """Estimate the mean squared error on a new sample for each penalty, summed over the outputs.

    The criterion "leave_one_out" is the mean square of the leave-one-out residuals, "gcv" generalized cross-validation
    (Suykens et al. 2002, 2.59). Without weights, or if all are one, all penalties come from one eigendecomposition
    (`PenaltyPath`). Other weights, or `terms` as in `WeightedRidge`, support only the penalty "kernel", with one
    factorisation per value. K is unchanged; `own_column` is as in `PenaltyPath.leave_one_out_outputs`. Raises
    ValueError as `PenaltyPath` and `WeightedRidge`.
    """
    weight = np.ones(K.shape[0]) if weight is None else weight
    if (terms is None or not terms.shape[1]) and (weight == 1).all():
        path = PenaltyPath(K.copy(), penalty)
        if criterion == "gcv":
            return path.generalised_cross_validation(targets, regularizations)
        outputs = path.leave_one_out_outputs(targets, regularizations, own_column=own_column)
        return ((targets - outputs) ** 2).mean(axis=1).sum(axis=1)
    found = []
    for regularization in regularizations:
        solution = WeightedRidge(K.copy(), targets, regularization, weight, terms)
        if criterion == "gcv":
            found.append(solution.generalised_cross_validation())
        else:
            squares = solution.leave_one_out_residuals() ** 2
            found.append(float((weight @ squares).sum() / weight.sum()))
    return np.array(found)
