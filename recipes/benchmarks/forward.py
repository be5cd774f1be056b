"""The settings of the forward-selection learners that cross-validation chooses among."""

from collections.abc import Sequence
from typing import Any

from discriminants.center_selection.forward.model_size import sizes_up_to
from recipes.benchmarks.model_choice import SEED, Search, grid

# OROLS sets lambda in every step. It ends when no column is left that its own columns do not nearly span.
_OROLS_END = {"tol": 0.0, "max_condition": 1e12}
_THRESHOLDS = (0.3, 0.1, 0.03, 0.01)


def npd_search(
    learner: Any, sigmas: Sequence[float], epsilons: Sequence[float], max_centers: int, **options: Any
) -> Search:
    """NPD: width, epsilon on the diagonal, number of centres."""
    estimator = learner(random_state=SEED, criterion=None, **options)
    return Search("npd", estimator, grid(sigma=sigmas, epsilon=epsilons), tuple(sizes_up_to(max_centers)))


def penalised_npd_search(
    learner: Any, sigmas: Sequence[float], penalties: Sequence[float], sizes: Sequence[int], **options: Any
) -> Search:
    """NPD: width, penalty on the norm, number of centres."""
    estimator = learner(random_state=SEED, criterion=None, **options)
    return Search("npd", estimator, grid(sigma=sigmas, norm_penalty=penalties), tuple(sizes))


def ols_search(learner: Any, sigmas: Sequence[float], max_centers: int, **options: Any) -> Search:
    """OLS: width and number of centres."""
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
    """OROLS: width, epsilon, how lambda is re-estimated, and number of centres."""
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
    """OROLS: width, penalty on the norm, how lambda is re-estimated, and number of centres."""
    estimator = learner(random_state=SEED, criterion=None, **(_OROLS_END | options))
    settings = grid(sigma=sigmas, norm_penalty=penalties, reestimation=reestimations)
    return Search("orols", estimator, settings, tuple(sizes_up_to(max_centers)))


def krls_search(learner: Any, sigmas: Sequence[float], max_centers: int, n_samples: int, **options: Any) -> Search:
    """KRLS without a penalty, as the source has it: width and the threshold nu of the dictionary; of few samples the
    dictionary is smaller, too.
    """
    estimator = learner(max_centers=max_centers, penalty=0.0, **options)
    return Search("krls", estimator, grid(sigma=sigmas, nu=_THRESHOLDS), n_samples=n_samples)
