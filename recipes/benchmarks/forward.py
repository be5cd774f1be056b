"""The settings of the forward-selection learners that cross-validation chooses among."""

from collections.abc import Sequence
from typing import Any

from discriminants.selection.model_size import sizes_up_to
from recipes.benchmarks.model_choice import SEED, Search, grid

# OROLS sets lambda in every step. It ends when no column is left that its own columns do not nearly span.
_OROLS_END = {"tol": 0.0, "max_condition": 1e12}


def npd_search(
    learner: Any, sigmas: Sequence[float], epsilons: Sequence[float], max_centers: int, **options: Any
) -> Search:
    """NPD: width, epsilon on the diagonal, number of centres."""
    estimator = learner(random_state=SEED, **options)
    return Search("npd", estimator, grid(sigma=sigmas, epsilon=epsilons), tuple(sizes_up_to(max_centers)))


def ols_search(learner: Any, sigmas: Sequence[float], max_centers: int, **options: Any) -> Search:
    """OLS: width and number of centres."""
    estimator = learner(random_state=SEED, **options)
    return Search("ols", estimator, grid(sigma=sigmas), tuple(sizes_up_to(max_centers)))


def orols_search(learner: Any, sigmas: Sequence[float], max_centers: int, *, own_size: bool, **options: Any) -> Search:
    """OROLS: the width. Its size is by its own criterion (`own_size`), or by the same folds as the width."""
    estimator = learner(max_centers, random_state=SEED, **(_OROLS_END | options))
    return Search("orols", estimator, grid(sigma=sigmas), None if own_size else tuple(sizes_up_to(max_centers)))
