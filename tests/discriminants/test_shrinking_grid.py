"""The shrinking grid against all its candidates, and as a search of scikit-learn."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris, make_moons
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from discriminants import LSSVMClassifier, ShrinkingGridSearchCV

X, Y = make_moons(80, noise=0.3, random_state=0)


class _Peak(BaseEstimator):
    """Scores best where a = 3 and b = -0.3."""

    def __init__(self, a: Any = 1.0, b: Any = 0.0, name: str = "") -> None:
        self.a, self.b, self.name = a, b, name

    def fit(self, X: Any, y: Any) -> "_Peak":
        return self

    def score(self, X: Any, y: Any) -> float:
        return -float(np.log(self.a / 3.0) ** 2 + (self.b + 0.3) ** 2) - (self.name == "worse")


def test_every_round_halves_the_steps_around_the_best() -> None:
    grid = {"a": [0.1, 1.0, 10.0], "b": [-1.0, 0.0, 1.0], "name": ["worse", "better"]}
    off = []
    for rounds in range(6):
        search = ShrinkingGridSearchCV(_Peak(), grid, n_refinements=rounds, cv=2).fit(X, Y)
        off.append((abs(np.log(search.best_params_["a"] / 3)), abs(search.best_params_["b"] + 0.3)))
        assert off[-1][0] <= np.log(10) / 2 ** (rounds + 1) + 1e-12
        assert off[-1][1] <= 1 / 2 ** (rounds + 1) + 1e-12
        assert search.best_params_["name"] == "better"
        tried = [tuple(sorted(candidate.items())) for candidate in search.cv_results_["params"]]
        assert len(set(tried)) == len(tried)
    assert off[0] > off[5]


def test_a_grid_whose_end_is_best_grows() -> None:
    search = ShrinkingGridSearchCV(_Peak(), {"a": [30.0, 60.0]}, n_refinements=5, cv=2).fit(X, Y)
    assert search.best_params_["a"] < 10
    whole = ShrinkingGridSearchCV(_Peak(), {"a": [1, 9, 81]}, cv=2).fit(X, Y)
    assert whole.best_params_["a"] == 3
    assert isinstance(whole.best_params_["a"], int)


def test_it_is_no_worse_than_its_first_grid_and_scores_are_those_of_cross_validation() -> None:
    grid = {"sigma": [2.0, 0.5, 0.125], "regularization": [10.0, 0.1, 0.001]}
    first = GridSearchCV(LSSVMClassifier(), grid, cv=3).fit(X, Y)
    search = ShrinkingGridSearchCV(LSSVMClassifier(), grid, n_refinements=2, cv=3).fit(X, Y)
    assert search.best_score_ >= first.best_score_
    alone = cross_val_score(LSSVMClassifier(**search.best_params_), X, Y, cv=3).mean()
    assert search.best_score_ == pytest.approx(alone)
    np.testing.assert_array_equal(search.predict(X), LSSVMClassifier(**search.best_params_).fit(X, Y).predict(X))


def test_what_cannot_be_searched_is_refused() -> None:
    with pytest.raises(ValueError, match="n_refinements"):
        ShrinkingGridSearchCV(_Peak(), {"a": [1.0]}, n_refinements=-1).fit(X, Y)
    with pytest.raises(ValueError, match="param_grid"):
        ShrinkingGridSearchCV(_Peak(), [{"a": [1.0]}]).fit(X, Y)  # type: ignore[arg-type]
    two = ShrinkingGridSearchCV(LSSVMClassifier(), {"sigma": [0.5, 1.0]}, scoring=["accuracy", "f1"], refit="f1", cv=2)
    with pytest.raises(ValueError, match="one score"):
        two.fit(X, Y)


@parametrize_with_checks(
    [ShrinkingGridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, n_refinements=1, cv=2)],
    expected_failed_checks=lambda _: {"check_supervised_y_2d": "as with GridSearchCV, its warning is not heard"},
)
def test_it_keeps_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def test_irises() -> None:
    features, labels = load_iris(return_X_y=True)
    search = ShrinkingGridSearchCV(LSSVMClassifier(), {"sigma": [0.5, 2.0], "regularization": [0.1]}, cv=3)
    assert search.fit(features[::2], labels[::2]).score(features[1::2], labels[1::2]) > 0.93
