"""Pruned least-squares support vector machines: which samples go, and when it ends."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_moons

from discriminants import (
    LSSVMClassifier,
    LSSVMRegressor,
    PairwiseClassifier,
    PrunedLSSVMClassifier,
    PrunedLSSVMRegressor,
)

RANDOM = np.random.default_rng(0)
X = np.sort(RANDOM.uniform(-8, 8, size=(120, 1)), axis=0)
Y = np.sinc(X[:, 0] / np.pi) + 0.05 * RANDOM.normal(size=120)
NEW = np.linspace(-8, 8, 100)[:, None]
MOONS, SIDES = make_moons(120, noise=0.2, random_state=0)


def test_the_samples_of_least_weight_go_first() -> None:
    full = LSSVMRegressor(sigma=2.0, regularization=0.01).fit(X, Y)
    pruned = PrunedLSSVMRegressor(sigma=2.0, regularization=0.01, share=0.1)
    pruned.fit(X, Y)
    first = np.argsort(np.abs(full.dual_coef_[:, 0]))[:12]
    assert pruned.path_sizes_[:3].tolist() == [120, 108, 97]
    assert not np.isin(first, pruned.support_).any()
    assert (np.diff(pruned.path_sizes_) < 0).all()


def test_what_is_kept_is_the_machine_of_these_samples() -> None:
    pruned = PrunedLSSVMRegressor(sigma=2.0, regularization=[0.001, 0.01, 0.1]).fit(X, Y)
    full = LSSVMRegressor(sigma=2.0, regularization=[0.001, 0.01, 0.1]).fit(X, Y)
    assert pruned.regularization_ == full.regularization_
    np.testing.assert_array_equal(pruned.criterion_, full.criterion_)
    assert len(pruned.support_) == pruned.path_sizes_[-1] < 120
    rows = pruned.support_
    alone = LSSVMRegressor(sigma=2.0, regularization=full.regularization_).fit(X[rows], Y[rows])
    np.testing.assert_allclose(pruned.predict(NEW), alone.predict(NEW), atol=1e-8)
    np.testing.assert_allclose(pruned.leave_one_out_residuals_[rows], alone.leave_one_out_residuals_, atol=1e-8)
    others = np.setdiff1d(np.arange(120), rows)
    np.testing.assert_allclose(pruned.leave_one_out_residuals_[others], Y[others] - alone.predict(X[others]), atol=1e-8)
    assert pruned.path_errors_[-1] == pytest.approx((pruned.leave_one_out_residuals_**2).mean())


def test_a_smaller_significance_prunes_further_and_the_curve_stays() -> None:
    truth = np.sinc(NEW[:, 0] / np.pi)
    sizes = []
    for significance in (0.2, 0.05, 0.01):
        model = PrunedLSSVMRegressor(sigma=2.0, regularization=0.01, significance=significance).fit(X, Y)
        sizes.append(len(model.support_))
        assert np.sqrt(np.mean((model.predict(NEW) - truth) ** 2)) < 0.04
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 60


def test_retuning_prunes_further_with_settings_of_its_own() -> None:
    once, again = (PrunedLSSVMRegressor(sigma=0.7, retune=retune).fit(X, Y) for retune in (False, True))
    n = len(once.path_sizes_)
    np.testing.assert_array_equal(again.path_sizes_[:n], once.path_sizes_)
    assert len(again.path_sizes_) > n
    assert again.sigma_ > 0.7
    rows = again.support_
    alone = LSSVMRegressor(sigma=again.sigma_, regularization=again.regularization_).fit(X[rows], Y[rows])
    np.testing.assert_allclose(again.predict(NEW), alone.predict(NEW), atol=1e-8)


def test_the_width_is_that_of_all_samples() -> None:
    assert PrunedLSSVMRegressor().fit(X, Y).sigma_ == LSSVMRegressor().fit(X, Y).sigma_


def test_classes_are_told_apart_by_fewer_samples() -> None:
    full = LSSVMClassifier(sigma=0.5).fit(MOONS[::2], SIDES[::2])
    pruned = PrunedLSSVMClassifier(sigma=0.5).fit(MOONS[::2], SIDES[::2])
    assert len(pruned.support_) < 30
    assert pruned.score(MOONS[1::2], SIDES[1::2]) >= full.score(MOONS[1::2], SIDES[1::2]) - 0.05
    wrong = (pruned.leave_one_out_outputs_[:, 0] > 0) != SIDES[::2]
    assert pruned.path_errors_[-1] == wrong.mean()


def test_the_sign_test_is_exact() -> None:
    model, none = PrunedLSSVMClassifier(significance=0.05), np.zeros(9)
    assert not model._worse(np.array([1, 1, 1, 1, 0, 0, 0, 0, 0.0]), none)  # 1 / 16
    assert model._worse(np.array([1, 1, 1, 1, 1, 0, 0, 0, 0.0]), none)  # 1 / 32
    assert not model._worse(np.array([1, 1, 1, 1, 1, 1, 0, 0, 0.0]), np.eye(9)[8])  # 8 / 128
    assert not model._worse(none, none)


def test_weights_of_samples_are_those_of_the_fits() -> None:
    weight = np.where(np.arange(120) % 3 == 0, 0.0, 1.5)
    model = PrunedLSSVMRegressor(sigma=2.0, regularization=0.01).fit(X, Y, weight)
    assert (model.support_ % 3 != 0).all()
    part = weight > 0
    alone = PrunedLSSVMRegressor(sigma=2.0, regularization=0.01 / 1.5).fit(X[part], Y[part])
    np.testing.assert_array_equal(model.support_, np.flatnonzero(part)[alone.support_])
    np.testing.assert_allclose(model.predict(NEW), alone.predict(NEW), atol=1e-8)


@pytest.mark.parametrize(
    "model", [PrunedLSSVMRegressor(kernel="precomputed"), PrunedLSSVMClassifier(kernel="precomputed")]
)
def test_a_precomputed_kernel(model: Any) -> None:
    K = np.exp(-((MOONS[:, None] - MOONS) ** 2).sum(axis=2) / 0.5)
    by_points = type(model)(sigma=0.5).fit(MOONS, SIDES)
    model.fit(K, SIDES)
    np.testing.assert_array_equal(model.support_, by_points.support_)
    np.testing.assert_allclose(model.predict(K), by_points.predict(MOONS), atol=1e-8)


def test_every_pair_of_classes_can_be_pruned_by_itself() -> None:
    labels = SIDES + 2 * (MOONS[:, 1] > 0.6)
    model = PairwiseClassifier(PrunedLSSVMClassifier(sigma=0.5)).fit(MOONS, labels)
    assert model.score(MOONS, labels) > 0.85
