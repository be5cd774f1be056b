"""Parameter search on a grid that shrinks around its best point (Suykens et al. 2002, section 3.4.2)."""

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils._param_validation import Interval

from discriminants.util.estimator import estimator, field, parameter


@estimator
class ShrinkingGridSearchCV(BaseSearchCV):
    """`GridSearchCV` followed by finer grids around the best candidate.

    Each round takes the best value of every parameter and the midpoints between it and its neighbors; at the end of a
    grid, one value a step further out. It tries all new combinations (Suykens et al. 2002, section 3.4.2), at most 3^p
    - 1 for p numeric parameters. After r rounds the neighbors of the best are 2^-r of the first grid's steps away. If
    all values of a parameter are positive, midpoints are geometric means and steps are ratios. Parameters that are not
    numeric keep their best value.

    Parameters
    ----------
    estimator : estimator
        Cloned for every candidate.
    param_grid : dict of str to list
        The first grid. Ties are resolved in favor of the first candidate, so list smoother values first.
    n_refinements : int
        Number of rounds after the first grid; the source uses three.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in `GridSearchCV`, with one score; `cv` must give the same folds in every round.

    Attributes
    ----------
    best_params_, best_score_, best_estimator_, cv_results_, classes_, ...
        As in `GridSearchCV`; `cv_results_` contains the candidates of all rounds.

    Raises
    ------
    ValueError
        From `fit`, if `param_grid` is not a dict of lists, for several scores, and as in `GridSearchCV`.

    See Also
    --------
    sklearn.model_selection.GridSearchCV : one grid.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from discriminants import LSSVMClassifier, ShrinkingGridSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = ShrinkingGridSearchCV(LSSVMClassifier(), {"sigma": [1.0, 4.0]}, n_refinements=1, cv=2).fit(X, y)
    >>> bool(search.best_score_ > 0.9)
    True
    """

    estimator: Any = field(kw_only=False)
    param_grid: Mapping[str, Any] = parameter(dict, kw_only=False)
    n_refinements: int = parameter(Interval(Integral, 0, None, closed="left"), default=3)
    scoring: Any = None
    n_jobs: int | None = None
    refit: Any = True
    cv: Any = None
    verbose: int = 0
    pre_dispatch: Any = "2*n_jobs"
    error_score: Any = np.nan
    return_train_score: bool = False

    def _run_search(self, evaluate_candidates: Callable[..., dict[str, Any]]) -> None:
        values = {name: list(given) for name, given in self.param_grid.items()}
        tried: list[dict[str, Any]] = []
        new = list(ParameterGrid(values))
        for refinement in range(self.n_refinements + 1):
            results = evaluate_candidates(new)
            if "mean_test_score" not in results:
                raise ValueError(f"scoring = {self.scoring!r} gives several scores. Expected one score")
            tried += new
            best = tried[int(np.argmin(results["rank_test_score"]))]
            nearer = {name: _nearer(best[name], known) for name, known in values.items()}
            new = [candidate for candidate in ParameterGrid(nearer) if candidate not in tried]
            if not new or refinement == self.n_refinements:
                break
            values = {name: known + [v for v in nearer[name] if v not in known] for name, known in values.items()}


def _nearer(best: Any, values: list[Any]) -> list[Any]:
    """Return the best value and the midpoints to its neighbors, or a step beyond the ends; non-numeric values stay
    alone.
    """
    numbers = all(isinstance(value, Real) and not isinstance(value, bool) for value in values)
    distinct = sorted(set(values)) if numbers else []
    if len(distinct) < 2 or not np.isfinite(distinct).all():
        return [best]
    ratios = distinct[0] > 0
    scale = np.log(distinct) if ratios else np.array(distinct, dtype=float)
    place = distinct.index(best)
    gaps = np.diff(scale)
    down = 0.5 * gaps[place - 1] if place > 0 else gaps[0]
    up = 0.5 * gaps[place] if place < gaps.shape[0] else gaps[-1]
    found = np.array([scale[place] - down, scale[place] + up])
    low, high = (np.exp(found) if ratios else found).tolist()
    if all(isinstance(value, Integral) for value in distinct):
        return sorted({round(low), best, round(high)})
    return [low, best, high]
