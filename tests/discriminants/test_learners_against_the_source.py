"""The forward-selection learners, whole, against transcriptions of their equations by dense linear algebra."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.kernel_ridge import KernelRidge
from threadpoolctl import threadpool_limits

from discriminants import (
    NPDClassifier,
    NPDRegressor,
    OLSClassifier,
    OLSRegressor,
    OROLSClassifier,
    OROLSRegressor,
)
from discriminants.kernels import MultiscaleGaussianKernel

STEPS = 10
RULES = ["error_reduction", "largest_residual", "matching_pursuit", "best_of_59"]
WIDTHS = np.random.default_rng(7).uniform(0.8, 1.6, size=90)
X = np.random.default_rng(8).normal(size=(90, 3))
CLASSES = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 0.5)
SMOOTH = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1], X[:, 2] ** 2 + 4.0])
SMOOTH = SMOOTH + 0.1 * np.random.default_rng(9).normal(size=SMOOTH.shape)

KERNELS: dict[str, dict[str, Any]] = {
    "one width": {"sigma": 1.2},
    "a width for each sample": {"sigma": WIDTHS},
    "three widths for each sample": {"kernel": MultiscaleGaussianKernel([0.7, 1.1, 1.7])},
    "precomputed": {"kernel": "precomputed"},
}
FORMS: dict[str, dict[str, Any]] = {"columns": {"n_candidates": None}, "Gram": {"n_candidates": 90}}


def gaussians(A: np.ndarray, B: np.ndarray, sigma: float | np.ndarray) -> np.ndarray:
    """(2.59), with the width of each centre."""
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2) / (2 * np.asarray(sigma) ** 2))


def samples(name: str) -> np.ndarray:
    """What a learner with the kernel of this name is given."""
    return gaussians(X, X, 1.2) if name == "precomputed" else X


def design(learner: Any, name: str, epsilon: float = 0.0) -> np.ndarray:
    """[1 K], the columns of the chosen centres with epsilon where a centre meets its own sample."""
    rows = learner.center_indices_
    K = gaussians(X, X, 1.2)[:, rows] if name == "precomputed" else gaussians(X, X[rows], learner.sigma_)
    K[rows, np.arange(rows.shape[0])] += epsilon
    return np.hstack([np.ones((X.shape[0], 1)), K])


def targets(learner: Any) -> tuple[np.ndarray, np.ndarray]:
    """What `fit` is given, and the targets that stand for it."""
    if not is_classifier(learner):
        return SMOOTH, SMOOTH
    return CLASSES, np.where(CLASSES[:, None] == np.arange(3), 1.0, -1.0)


def all_weights(learner: Any) -> np.ndarray:
    return np.vstack([learner.intercept_, learner.dual_coef_])


def unit_triangle(A: np.ndarray) -> np.ndarray:
    """U of A = Q U, Q with orthogonal columns of any length (3.76)."""
    R = np.linalg.qr(A)[1]
    return R / np.diagonal(R)[:, None]


def regularized(A: np.ndarray, Y: np.ndarray, lam: float) -> np.ndarray:
    """(K'K + lambda U'U)^-1 K'y, what minimizes (3.80)."""
    U = unit_triangle(A)
    return np.linalg.solve(A.T @ A + lam * U.T @ U, A.T @ Y)


def generalised_cross_validation(A: np.ndarray, Y: np.ndarray, lam: float) -> float:
    """(3.85) with the trace of the smoother, summed over the targets."""
    penalty = np.sqrt(lam) * unit_triangle(A)  # squared condition numbers would be visible
    rows = np.vstack([np.eye(A.shape[0]), np.zeros((A.shape[1], A.shape[0]))])
    smoother = A @ np.linalg.lstsq(np.vstack([A, penalty]), rows, rcond=None)[0]
    residual = Y - smoother @ Y
    return float(A.shape[0] * (residual**2).sum() / (A.shape[0] - np.trace(smoother)) ** 2)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize(
    "learner", [NPDClassifier(criterion=None), NPDRegressor(criterion=None)], ids=["classifier", "regressor"]
)
def test_npd_is_least_squares_in_the_chosen_columns_after_every_step(
    learner: Any, epsilon: float, form: str, kernel: str
) -> None:
    y, Y = targets(learner)
    before = np.empty(0, dtype=int)
    for m in range(1, STEPS + 1):
        step = clone(learner).set_params(n_centers=m, epsilon=epsilon, **FORMS[form], **KERNELS[kernel])
        step.fit(samples(kernel), y)
        assert step.center_indices_.shape == (m,)
        np.testing.assert_array_equal(step.center_indices_[:-1], before)
        before = step.center_indices_
        W = np.linalg.lstsq(design(step, kernel, epsilon), Y, rcond=None)[0]
        np.testing.assert_allclose(all_weights(step), W, rtol=0, atol=1e-8 * np.abs(W).max())
        outputs = step.decision_function if is_classifier(step) else step.predict
        # Epsilon is used only in training, because a new sample is not a center.
        np.testing.assert_allclose(outputs(samples(kernel)), design(step, kernel) @ W, atol=1e-8 * np.abs(W).max())


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reestimation", ["gcv", "evidence"])
@pytest.mark.parametrize(
    "learner",
    [OROLSClassifier(criterion=None), OROLSRegressor(criterion=None)],
    ids=["classifier", "regressor"],
)
def test_orols_is_the_penalised_solution_under_its_lambda_after_every_step(
    learner: Any, reestimation: str, form: str, kernel: str
) -> None:
    y, Y = targets(learner)
    for m in range(1, STEPS + 1):
        step = clone(learner).set_params(n_centers=m, reestimation=reestimation, **FORMS[form], **KERNELS[kernel])
        step.set_params(epsilon=0.2).fit(samples(kernel), y)
        assert step.center_indices_.shape == (m,)
        A = design(step, kernel, 0.2)
        W = regularized(A, Y, step.lambda_[0])
        np.testing.assert_allclose(all_weights(step), W, rtol=0, atol=1e-8 * np.abs(W).max())
        assert step.gcv_[0] == pytest.approx(generalised_cross_validation(A, Y, step.lambda_[0]), rel=1e-8)
    assert step.lambda_[0] > 0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("learner_class", [NPDClassifier, OROLSClassifier, NPDRegressor, OROLSRegressor])
def test_float32_samples_give_the_weights_of_their_float64_copies(learner_class: Any, form: str) -> None:
    single = X.astype(np.float32)
    learner = learner_class(STEPS, sigma=1.2, criterion=None, **FORMS[form])
    y = targets(learner)[0]
    learner.fit(single, y)
    double = clone(learner).fit(single.astype(np.float64), y)
    np.testing.assert_array_equal(learner.center_indices_, double.center_indices_)
    assert learner.dual_coef_.dtype == np.float32
    scale = np.abs(double.dual_coef_).max()
    np.testing.assert_allclose(learner.dual_coef_, double.dual_coef_, rtol=0, atol=1e-4 * scale)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", RULES[:3])
@pytest.mark.parametrize("learner_class", [NPDClassifier, OROLSClassifier, NPDRegressor, OROLSRegressor])
def test_private_dictionaries_are_those_of_one_learner_for_each_output(
    learner_class: Any, rule: str, form: str
) -> None:
    learner = learner_class(STEPS, sigma=1.2, rule=rule, dictionary="private", criterion=None, **FORMS[form])
    y, Y = targets(learner)
    learner.fit(X, y)
    regressor = NPDRegressor if learner_class in (NPDClassifier, NPDRegressor) else OROLSRegressor
    for s in range(Y.shape[1]):
        alone = regressor(STEPS, sigma=1.2, rule=rule, criterion=None, **FORMS[form]).fit(X, Y[:, s])
        used = np.flatnonzero(learner.dual_coef_[:, s])
        assert learner.n_centers_[s] == used.shape[0] == alone.center_indices_.shape[0]
        place = np.argsort(alone.center_indices_)
        np.testing.assert_array_equal(learner.center_indices_[used], alone.center_indices_[place])
        np.testing.assert_allclose(learner.dual_coef_[used, s], alone.dual_coef_[place, 0], rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(learner.intercept_[s], alone.intercept_[0], rtol=1e-8)
        if regressor is OROLSRegressor:
            assert learner.lambda_[s] == pytest.approx(alone.lambda_[0], rel=1e-6)
    # Each center is stored once, even if several outputs chose it.
    assert np.unique(learner.center_indices_).shape == learner.center_indices_.shape


@pytest.mark.parametrize("kernel", KERNELS)
def test_modified_gram_schmidt_over_all_columns_is_npd_by_error_reduction(kernel: str) -> None:
    for ols, npd in ((OLSClassifier, NPDClassifier), (OLSRegressor, NPDRegressor)):
        baseline, learner = (
            kind(40, epsilon=0.1, **KERNELS[kernel]).fit(samples(kernel), targets(kind())[0]) for kind in (ols, npd)
        )
        np.testing.assert_array_equal(baseline.center_indices_, learner.center_indices_)
        scale = np.abs(learner.dual_coef_).max()
        np.testing.assert_allclose(baseline.dual_coef_, learner.dual_coef_, rtol=0, atol=1e-6 * scale)


@pytest.mark.parametrize("form", FORMS)
def test_a_centre_for_every_sample_interpolates_as_kernel_ridge_without_ridge_does(form: str) -> None:
    learner = NPDRegressor(90, sigma=0.5, criterion=None, **FORMS[form]).fit(X, SMOOTH)
    assert learner.center_indices_.shape == (89,)  # and the constant
    np.testing.assert_allclose(learner.predict(X), SMOOTH, atol=1e-8)
    ridge = KernelRidge(alpha=1e-12, kernel="rbf", gamma=2.0).fit(X, SMOOTH)
    np.testing.assert_allclose(learner.predict(X), ridge.predict(X), atol=1e-8)


def test_the_penalised_solution_is_not_ridge_regression_in_the_columns() -> None:
    learner = OROLSRegressor(STEPS, sigma=1.2, criterion=None, **FORMS["Gram"]).fit(X, SMOOTH)
    A, lam = design(learner, "one width"), learner.lambda_[0]
    ridge = np.linalg.solve(A.T @ A + lam * np.eye(A.shape[1]), A.T @ SMOOTH)
    assert np.abs(all_weights(learner) - ridge).max() > 0.01 * np.abs(ridge).max()


LEARNERS: list[Callable[..., Any]] = [NPDClassifier, OROLSClassifier, OLSClassifier, NPDRegressor, OROLSRegressor]


@pytest.mark.parametrize("learner_class", LEARNERS)
def test_the_order_of_the_samples_does_not_matter_where_all_are_candidates(learner_class: Any) -> None:
    learner = learner_class(30, sigma=1.2, criterion=None)
    y = targets(learner)[0]
    shuffled = np.random.default_rng(2).permutation(90)
    first, second = clone(learner).fit(X, y), clone(learner).fit(X[shuffled], y[shuffled])
    np.testing.assert_array_equal(first.center_indices_, shuffled[second.center_indices_])
    np.testing.assert_array_equal(first.basis_centers_, second.basis_centers_)
    np.testing.assert_allclose(first.dual_coef_, second.dual_coef_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("learner_class", [NPDClassifier, OROLSRegressor])
def test_the_same_seed_gives_the_same_model_and_another_seed_other_candidates(learner_class: Any, rule: str) -> None:
    learner = learner_class(15, rule=rule, n_candidates=40, random_state=5, criterion=None)
    y = targets(learner)[0]
    first, again, other = (clone(learner).set_params(random_state=seed).fit(X, y) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.center_indices_, again.center_indices_)
    np.testing.assert_array_equal(first.dual_coef_, again.dual_coef_)
    assert not np.array_equal(first.center_indices_, other.center_indices_)


@pytest.mark.parametrize("learner_class", LEARNERS)
def test_the_number_of_threads_does_not_change_the_centres(learner_class: Any) -> None:
    random = np.random.default_rng(4)
    samples = random.normal(size=(1500, 8))
    y = (samples[:, 0] * samples[:, 1] > 0).astype(int) + (samples[:, 2] > 0.5)
    models = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            models.append(
                learner_class(40, sigma=2.0, n_candidates=150, random_state=0, criterion=None).fit(samples, y)
            )
    np.testing.assert_array_equal(models[0].center_indices_, models[1].center_indices_)
    np.testing.assert_allclose(models[0].dual_coef_, models[1].dual_coef_, rtol=1e-6, atol=1e-8)
