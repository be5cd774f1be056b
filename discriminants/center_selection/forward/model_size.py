"""Criteria for the number of selected centers to keep, over the sizes of a selection path."""

from collections.abc import Callable

import numpy as np

from discriminants.center_selection.forward.orthogonal_system import OrthogonalSystem

Criterion = Callable[[OrthogonalSystem, float], float]


def gcv(system: OrthogonalSystem, lam: float) -> float:
    """Return the score of generalized cross-validation (Andelic 2007, 3.85; Wahba 1979)."""
    return system.generalised_cross_validation(lam)


def bic(system: OrthogonalSystem, lam: float) -> float:
    """Return the Bayesian information criterion N log(RSS / N) + k log N, summed over the targets (Schwarz 1978).

    k is the effective number of weights, the trace of the smoother. Rissanen's first description length of 1978 is half
    of it.
    """
    n = system.n_samples
    k = float(system.shrinkage(lam).sum())
    return float((n * np.log(_residuals(system, lam) / n) + k * np.log(n)).sum())


def mdl(system: OrthogonalSystem, lam: float) -> float:
    """Return the minimum description length in the mixture form gMDL, summed over the targets (Hansen and Yu 2001).

    N/2 log S + k/2 log F + log N with S = RSS / (N - k) and F = (TSS - RSS) / (k S), if the fit explains more than k of
    N equal shares; else N/2 log(TSS / N) + 1/2 log N.
    """
    n = system.n_samples
    k = float(system.shrinkage(lam).sum())
    rss, tss = _residuals(system, lam), np.maximum(system.target_energy, np.finfo(float).tiny)
    if k >= n:
        return np.inf
    variance = rss / (n - k)
    ratio = np.maximum((tss - rss) / (k * variance), np.finfo(float).tiny)
    fitted = 0.5 * n * np.log(variance) + 0.5 * k * np.log(ratio) + np.log(n)
    empty = 0.5 * n * np.log(tss / n) + 0.5 * np.log(n)
    return float(np.where(1.0 - rss / tss > k / n, fitted, empty).sum())


CRITERIA: dict[str, Criterion] = {"gcv": gcv, "bic": bic, "mdl": mdl}


def sizes_up_to(largest: int) -> list[int]:
    """Return the sizes compared by cross-validation: all up to 32, then about every 6 % more."""
    sizes, size = [], 1
    while size < largest:
        sizes.append(size)
        size = size + 1 if size < 32 else int(np.ceil(size * 1.06))
    return [*sizes, largest]


def _residuals(system: OrthogonalSystem, lam: float) -> np.ndarray:
    """Return residual sums of squares, bounded below by rounding."""
    floor = np.finfo(float).eps * system.target_energy + np.finfo(float).tiny
    return np.maximum(system.residual_sum_of_squares(lam), floor)
