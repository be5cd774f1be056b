"""Robust weights against their definitions, and the machines that use them against outliers."""

import numpy as np
import pytest
from sklearn.base import clone

from discriminants import LSSVMRegressor, WeightedLSSVMRegressor
from discriminants.lssvm.robust_weights import LOSSES, huber_weights, robust_scale, robust_weights

GRID = np.linspace(-3, 3, 80)[:, None]


def _sinc(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples of sinc with noise of deviation 0.05, of which one in ten is far off; and which."""
    random = np.random.default_rng(seed)
    X = random.uniform(-3, 3, size=(100, 1))
    y = np.sinc(X[:, 0]) + 0.05 * random.normal(size=100)
    wrong = random.choice(100, 10, replace=False)
    y[wrong] += random.uniform(1, 3, size=10)
    return X, y, wrong


def _error(learner: LSSVMRegressor) -> float:
    return float(np.sqrt(((learner.predict(GRID) - np.sinc(GRID[:, 0])) ** 2).mean()))


def _psi(loss: str, t: float) -> float:
    """Derivatives of the losses (Suykens et al. 2002, section 5.3.3)."""
    size, sign = abs(t), np.sign(t)
    if loss == "cut":
        return t * (1.0 if size <= 2.5 else (3 - size) / 0.5)
    if loss == "huber":
        return t if size <= 1.5 else 1.5 * sign
    if loss == "hampel":
        return t if size <= 1.7 else 1.7 * sign if size <= 3.4 else 1.7 * (8.5 - size) / 5.1 * sign
    if loss == "andrews":
        return np.sin(t) if size <= np.pi else 0.0
    if loss == "logistic":
        return np.tanh(t)
    return t * (1 - (t / 4.685) ** 2) ** 2 if size <= 4.685 else 0.0


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_are_the_derivative_of_the_loss_over_the_residual(loss: str) -> None:
    residuals = np.random.default_rng(0).standard_t(2, size=101)
    ones = np.ones(101)
    scale = robust_scale(residuals, ones)
    assert scale == pytest.approx(1.4826 * np.median(np.abs(residuals - np.median(residuals))))
    expected = [_psi(loss, e / scale) / (e / scale) for e in residuals]
    np.testing.assert_allclose(robust_weights(residuals, loss, ones), np.maximum(expected, 1e-4), atol=1e-12)


def test_loss_function_gives_the_same_as_its_name() -> None:
    X, y, _ = _sinc()
    options = {"sigma": 0.5, "regularization": 0.1, "max_reweightings": 5}
    named, given = (WeightedLSSVMRegressor(loss=loss, **options).fit(X, y) for loss in ("huber", huber_weights))
    np.testing.assert_array_equal(given.robust_weights_, named.robust_weights_)


def test_equal_residuals_have_no_scale_and_weigh_the_same() -> None:
    np.testing.assert_array_equal(robust_weights(np.array([0.0, 0.0, 0.0, 5.0]), "cut", np.ones(4)), np.ones(4))


@pytest.mark.parametrize("loss", LOSSES)
def test_outliers_do_not_turn_the_curve(loss: str) -> None:
    X, y, wrong = _sinc()
    plain = LSSVMRegressor(sigma=0.5, regularization=0.1).fit(X, y)
    once = WeightedLSSVMRegressor(sigma=0.5, regularization=0.1, loss=loss).fit(X, y)
    often = WeightedLSSVMRegressor(sigma=0.5, regularization=0.1, loss=loss, max_reweightings=20).fit(X, y)
    assert _error(once) < 0.7 * _error(plain)
    assert _error(often) < 0.6 * _error(plain)
    assert once.robust_weights_[wrong].max() < np.delete(once.robust_weights_, wrong).mean()


@pytest.mark.parametrize("sigma", [0.5, "scale"])
def test_a_penalty_chosen_by_the_weights_of_the_round_is_not_led_astray(sigma: float | str) -> None:
    X, y, _ = _sinc()
    learner = WeightedLSSVMRegressor(sigma=sigma, max_reweightings=5).fit(X, y)
    stays = WeightedLSSVMRegressor(
        sigma=sigma, max_reweightings=5, regularization=LSSVMRegressor(sigma=sigma).fit(X, y).regularization_
    ).fit(X, y)
    assert _error(learner) < 0.3 * _error(stays)
    assert learner.criterion_ is not None
    assert learner.criterion_.shape == (17,)


def test_it_is_the_plain_machine_with_the_weights_found() -> None:
    X, y, _ = _sinc()
    for solver in ("direct", "conjugate_gradient"):
        learner = WeightedLSSVMRegressor(
            sigma=0.5, regularization=0.1, max_reweightings=3, solver=solver, tol=1e-11
        ).fit(X, y)
        plain = LSSVMRegressor(sigma=0.5, regularization=0.1).fit(X, y, learner.robust_weights_)
        np.testing.assert_allclose(learner.predict(GRID), plain.predict(GRID), atol=1e-8)
        if solver == "direct":
            np.testing.assert_allclose(
                learner.leave_one_out_residuals_, plain.leave_one_out_residuals_, rtol=0, atol=1e-8
            )


def test_reweighting_ends_at_weights_that_give_themselves() -> None:
    X, y, _ = _sinc()
    learner = WeightedLSSVMRegressor(sigma=0.5, regularization=0.1, loss="huber", max_reweightings=100).fit(X, y)
    again = robust_weights(y - learner.predict(X), "huber", np.ones(100))
    np.testing.assert_allclose(again, learner.robust_weights_, atol=2e-3)


def test_every_target_has_weights_of_its_own_and_the_penalty_is_that_of_the_plain_machine() -> None:
    X, y, _ = _sinc()
    clean = np.sinc(X[:, 0]) + 0.05 * np.random.default_rng(5).normal(size=100)
    settings = {"sigma": 0.5, "regularization": [0.01, 0.1, 1.0]}
    learner = WeightedLSSVMRegressor(**settings).fit(X, np.column_stack([y, clean]))
    plain = LSSVMRegressor(**settings).fit(X, np.column_stack([y, clean]))
    assert learner.regularization_ == plain.regularization_
    np.testing.assert_array_equal(learner.criterion_, plain.criterion_)
    alone = WeightedLSSVMRegressor(sigma=0.5, regularization=plain.regularization_).fit(X, y)
    np.testing.assert_allclose(learner.predict(GRID)[:, 0], alone.predict(GRID), atol=1e-8)
    np.testing.assert_allclose(learner.robust_weights_[:, 0], alone.robust_weights_, atol=1e-6)
    assert learner.robust_weights_[:, 1].mean() > learner.robust_weights_[:, 0].mean()


def test_sample_weights_count_samples() -> None:
    X, y, _ = _sinc()
    counts = np.random.default_rng(1).integers(0, 4, size=100)
    learner = WeightedLSSVMRegressor(sigma=0.5, regularization=0.1, loss="hampel", max_reweightings=3)
    weighted = clone(learner).fit(X, y, counts)
    repeated = clone(learner).fit(X.repeat(counts, axis=0), y.repeat(counts))
    np.testing.assert_allclose(weighted.predict(GRID), repeated.predict(GRID), atol=1e-8)
    assert (weighted.robust_weights_[counts == 0] == 1).all()
