"""Candidate settings of the forward-selection learners for cross-validation."""

from collections.abc import Sequence
from typing import Any

from discriminants.center_selection.forward.model_size import sizes_up_to
from recipes.benchmarks.model_choice import SEED, Search, grid

# OROLS sets lambda in every step. It stops when its columns nearly span all others.
_OROLS_END = {"tol": 0.0, "max_condition": 1e12}
_THRESHOLDS = (0.3, 0.1, 0.03, 0.01)


def npd_search(
    learner: Any, sigmas: Sequence[float], epsilons: Sequence[float], max_centers: int, **options: Any
) -> Search:
    """Search NPD: width, epsilon on the diagonal, number of centers."""
    estimator = learner(random_state=SEED, criterion=None, **options)
    return Search("npd", estimator, grid(sigma=sigmas, epsilon=epsilons), tuple(sizes_up_to(max_centers)))


def penalised_npd_search(
    learner: Any, sigmas: Sequence[float], penalties: Sequence[float], sizes: Sequence[int], **options: Any
) -> Search:
    """Search NPD: width, penalty on the norm, number of centers."""
    estimator = learner(random_state=SEED, criterion=None, **options)
    return Search("npd", estimator, grid(sigma=sigmas, norm_penalty=penalties), tuple(sizes))


def qr_search(learner: Any, sigmas: Sequence[float], max_centers: int) -> Search:
    """Search the greedy QR algorithm (Nair, Choudhury and Keane 2002): width and number of centers.

    Among all samples the one with the largest residual is the next center, without a penalty. The thin QR factorization
    is updated with a second orthogonalization; it is unique, so Givens rotations give the same one.
    """
    estimator = learner(random_state=SEED, criterion=None, rule="largest_residual", n_candidates=None)
    return Search("qr", estimator, grid(sigma=sigmas), tuple(sizes_up_to(max_centers)))


def ols_search(learner: Any, sigmas: Sequence[float], max_centers: int, **options: Any) -> Search:
    """Search OLS: width and number of centers."""
    estimator = learner(random_state=SEED, criterion=None, **options)
    return Search("ols", estimator, grid(sigma=sigmas), tuple(sizes_up_to(max_centers)))


def orols_search(
    learner: Any,
    sigmas: Sequence[float],
    epsilons: Sequence[float],
    max_centers: int,
    *,
    reestimations: Sequence[str] = ("gcv",),
    **options: Any,
) -> Search:
    """Search OROLS: width, epsilon, re-estimation of lambda, and number of centers."""
    estimator = learner(random_state=SEED, criterion=None, **(_OROLS_END | options))
    settings = grid(sigma=sigmas, epsilon=epsilons, reestimation=reestimations)
    return Search("orols", estimator, settings, tuple(sizes_up_to(max_centers)))


def penalised_orols_search(
    learner: Any,
    sigmas: Sequence[float],
    penalties: Sequence[float],
    max_centers: int,
    *,
    reestimations: Sequence[str],
    **options: Any,
) -> Search:
    """Search OROLS: width, penalty on the norm, re-estimation of lambda, and number of centers."""
    estimator = learner(random_state=SEED, criterion=None, **(_OROLS_END | options))
    settings = grid(sigma=sigmas, norm_penalty=penalties, reestimation=reestimations)
    return Search("orols", estimator, settings, tuple(sizes_up_to(max_centers)))


def krls_search(learner: Any, sigmas: Sequence[float], max_centers: int, n_samples: int, **options: Any) -> Search:
    """Search KRLS without a penalty, as in the source: width and the threshold nu of the dictionary. Fewer samples give
    a smaller dictionary.
    """
    estimator = learner(max_centers=max_centers, penalty=0.0, **options)
    return Search("krls", estimator, grid(sigma=sigmas, nu=_THRESHOLDS), n_samples=n_samples)
