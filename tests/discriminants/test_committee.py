"""Committees against members that are known."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPRegressor

from discriminants import CommitteeRegressor, LSSVMRegressor

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-10, 10, size=(600, 1))
TRUTH = np.sinc(X[:, 0] / np.pi)
Y = TRUTH + 0.1 * RANDOM.normal(size=600)
NEW = np.linspace(-10, 10, 200)[:, None]
MEMBER = LSSVMRegressor(sigma=1.5, regularization=1.0)


def test_weights_have_the_least_error_among_those_that_sum_to_one() -> None:
    factor = RANDOM.normal(size=(5, 5))
    C = factor @ factor.T
    beta = CommitteeRegressor(weighting="optimal", regularization=0.0)._weights(C)
    assert beta.sum() == pytest.approx(1.0)
    assert beta @ C @ beta == pytest.approx(1.0 / np.linalg.inv(C).sum(), rel=1e-8)
    beta = CommitteeRegressor(regularization=0.0, weighting="nonnegative")._weights(C)
    searched = minimize(
        lambda b: b @ C @ b,
        np.full(5, 0.2),
        bounds=[(0, None)] * 5,
        constraints={"type": "eq", "fun": lambda b: b.sum() - 1},
        options={"ftol": 1e-14},
    )
    assert (beta >= 0).all()
    assert beta @ C @ beta == pytest.approx(searched.fun, rel=1e-5)


def test_two_members_of_independent_errors_are_weighed_by_their_variances() -> None:
    beta = CommitteeRegressor(weighting="optimal", regularization=0.0)._weights(np.diag([1.0, 4.0]))
    np.testing.assert_allclose(beta, [0.8, 0.2])


def test_a_committee_is_no_worse_than_its_best_member_where_it_was_weighed() -> None:
    model = CommitteeRegressor(MEMBER, 4, regularization=0.0, random_state=0).fit(X, Y)
    C, beta = model.error_covariance_, model.member_weights_
    assert beta @ C @ beta <= C.diagonal().min() + 1e-12
    truth = np.sinc(NEW[:, 0] / np.pi)
    alone = [np.sqrt(np.mean((member.predict(NEW) - truth) ** 2)) for member in model.estimators_]
    assert np.sqrt(np.mean((model.predict(NEW) - truth) ** 2)) < np.mean(alone)


def test_outputs_are_the_weighted_sum_and_parts_share_no_sample() -> None:
    targets = np.column_stack([Y, -2.0 * Y])
    model = CommitteeRegressor(MEMBER, 3, random_state=1).fit(X, targets)
    members = [member.predict(NEW) for member in model.estimators_]
    expected = sum(weight * member for weight, member in zip(model.member_weights_, members, strict=True))
    np.testing.assert_allclose(model.predict(NEW), expected, atol=1e-12)
    centres = np.concatenate([member.basis_centers_ for member in model.estimators_])
    assert np.unique(centres).size == centres.shape[0] == 540
    equal = CommitteeRegressor(MEMBER, 3, weighting="equal", random_state=1).fit(X, targets)
    np.testing.assert_allclose(equal.predict(NEW), np.mean(members, axis=0), atol=1e-12)


@pytest.mark.parametrize(
    "combine",
    [
        LinearRegression(),
        MLPRegressor(hidden_layer_sizes=(6,), activation="tanh", solver="lbfgs", alpha=1e-3, random_state=0),
    ],
)
def test_a_second_layer_learns_from_the_outputs_of_the_members(combine: Any) -> None:
    model = CommitteeRegressor(MEMBER, 4, held_out=0.3, combine=combine, random_state=0).fit(X, Y)
    members = np.column_stack([member.predict(NEW) for member in model.estimators_])
    np.testing.assert_allclose(model.predict(NEW), model.combine_.predict(members))
    assert np.sqrt(np.mean((model.predict(NEW) - np.sinc(NEW[:, 0] / np.pi)) ** 2)) < 0.06


def test_too_few_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="11 samples, got 10"):
        CommitteeRegressor(n_members=5).fit(X[:10], Y[:10])
