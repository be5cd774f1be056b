"""Kernel logistic regression by iteratively reweighted least squares."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from discriminants.kernels import FunctionKernel, GaussianKernel
from discriminants.kernels.multiscale import MultiscaleGaussianKernel
from discriminants.linear_systems.conjugate_gradients import conjugate_gradients
from discriminants.logistic.block_sums import Features
from discriminants.logistic.irls import NewtonSearch, Point, fit_irls_weights, irls_is_affordable
from discriminants.logistic.loss import LOSSES, binary
from discriminants.logistic.objective import LogisticObjective
from discriminants.logistic.samples import Samples
from discriminants.logistic.training import LossHistory
from discriminants.logistic.whitening import Whitening, whiten, whiten_by_factors
from discriminants.parallel.workers import SerialWorkers
from discriminants.serialization.persistence import estimator_from_arrays, estimator_to_arrays
from discriminants.sparse.sparse_logistic import SparseKernelLogisticClassifier

KERNEL = GaussianKernel(3.0)


def whitened(X: np.ndarray, centers: np.ndarray, by: Any = whiten) -> Whitening:
    K = KERNEL(X, centers)
    return by(KERNEL(centers, centers), np.cov(K.T, bias=True), K.mean(axis=0), 2e-3)


def problem_of(n_classes: int, n_samples: int = 120) -> tuple[np.ndarray, ...]:
    X, codes = make_blobs(n_samples, centers=n_classes, cluster_std=4.0, random_state=1)
    weight = np.random.default_rng(2).uniform(0.3, 2.0, n_samples)
    return X, codes, weight, X[:12]


def fitted(n_classes: int, loss: str, alpha: float = 1e-3, **options: Any) -> tuple[Any, ...]:
    X, codes, weight, centers = problem_of(n_classes)
    w = whitened(X, centers)
    V, b = np.zeros((w.transform.shape[1], n_classes)), np.zeros(n_classes)
    curve: list[float] = []
    settings = {"tol": 1e-12, "max_steps": 100, **options}
    converged = fit_irls_weights(
        Samples(X, codes, weight / weight.mean()),
        Features(KERNEL, centers),
        SerialWorkers(),
        w,
        V,
        b,
        loss=loss,
        alpha=alpha,
        record=LossHistory(lambda number, value: curve.append(value) or value),
        **settings,
    )
    phi = (KERNEL(X, centers) - w.mean) @ w.transform
    return phi, codes, weight, w, V, b, curve, converged


def objective(
    flat: np.ndarray, phi: np.ndarray, codes: np.ndarray, weight: np.ndarray, w: Whitening, loss: str, alpha: float
) -> tuple[float, np.ndarray]:
    theta = flat.reshape(phi.shape[1] + 1, -1)
    residual = phi @ theta[:-1] + theta[-1]
    value = LOSSES[loss](residual, codes, weight) / weight.sum()
    value += 0.5 * alpha * float((w.penalty[:, None] * theta[:-1] ** 2).sum())
    gradient = np.vstack([phi.T @ residual, residual.sum(axis=0)]) / weight.sum()
    gradient[:-1] += alpha * w.penalty[:, None] * theta[:-1]
    return value, gradient.ravel()


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_irls_ends_where_a_general_optimizer_ends(n_classes: int, loss: str) -> None:
    phi, codes, weight, w, V, b, curve, converged = fitted(n_classes, loss)
    arguments = (phi, codes, weight, w, loss, 1e-3)
    value, gradient = objective(np.vstack([V, b]).ravel(), *arguments)
    best = minimize(
        objective,
        np.zeros(gradient.size),
        arguments,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 0.0, "gtol": 1e-11, "maxcor": 50},
    )
    assert converged
    assert np.abs(gradient).max() < 1e-10
    assert value == pytest.approx(curve[-1], rel=1e-12)
    theta = best.x.reshape(-1, n_classes)
    np.testing.assert_allclose(V, theta[:-1], atol=1e-6)
    common = (theta[-1] - b).mean() if loss == "multinomial" else 0.0  # a softmax does not depend on it
    np.testing.assert_allclose(b + common, theta[-1], atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_irls_on_the_whitened_features_is_scikit_learns_logistic_regression(n_classes: int) -> None:
    alpha = 1e-3
    phi, codes, weight, w, V, b, _, _ = fitted(n_classes, "multinomial", alpha)
    ridge = np.sqrt(w.penalty)
    peer = LogisticRegression(C=1.0 / (alpha * weight.sum()), tol=1e-12, max_iter=5000, solver="newton-cg")
    peer.fit(phi / ridge, codes, sample_weight=weight)
    if n_classes == 2:  # its single output is the difference, with a penalty on that
        peer.set_params(C=2.0 / (alpha * weight.sum())).fit(phi / ridge, codes, sample_weight=weight)
    outputs = phi @ V + b
    own = outputs[:, 1] - outputs[:, 0] if n_classes == 2 else outputs - outputs.mean(axis=1, keepdims=True)
    theirs = peer.decision_function(phi / ridge)
    if n_classes > 2:
        theirs -= theirs.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(own, theirs, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_the_loss_never_rises_and_the_last_steps_converge_quadratically(n_classes: int, loss: str) -> None:
    _, _, _, _, _, _, curve, _ = fitted(n_classes, loss, 1e-6)
    falls = -np.diff(curve)
    assert (falls >= -1e-14).all()
    assert len(curve) < 40


@pytest.mark.parametrize(("n_outputs", "loss"), [(1, "binary"), (3, "multinomial"), (3, "ovr")])
def test_gradient_and_newton_steps_agree_with_finite_differences(n_outputs: int, loss: str) -> None:
    X, codes, weight, centers = problem_of(max(2, n_outputs))
    w = whitened(X, centers)
    loss = "binary" if n_outputs == 1 else loss
    samples = Samples(X, codes, weight / weight.mean())
    problem = LogisticObjective(samples, Features(KERNEL, centers), SerialWorkers(), w, loss=loss, alpha=0.01)
    search = NewtonSearch(problem)
    theta = 0.3 * np.random.default_rng(3).normal(size=(w.transform.shape[1] + 1, n_outputs))
    if loss == "multinomial":  # steps keep the sum of the weights over the outputs at zero
        theta -= theta.mean(axis=1, keepdims=True)

    def slope(i: tuple[int, ...], function: Any, h: float = 1e-5) -> Any:
        step = np.zeros_like(theta)
        step[i] = h
        return (function(theta + step) - function(theta - step)) / (2 * h)

    point = search.at(theta)
    gradient = point.gradient
    hessian = np.empty((theta.size, theta.size))
    for row, i in enumerate(np.ndindex(theta.shape)):
        assert gradient[i] == pytest.approx(slope(i, lambda t: search.at(t).value), abs=1e-8)
        hessian[row] = slope(i, lambda t: search.at(t).gradient.ravel())
    # With such a small gradient the truncated step is almost exact.
    near = Point(theta, point.value, 1e-14 * gradient, point.curvature)
    step = 1e14 * (search.direct_step if n_outputs == 1 else search.truncated_step)(near)
    np.testing.assert_allclose(hessian @ step.ravel(), -gradient.ravel(), atol=1e-5 * np.abs(gradient).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("by", [whiten, whiten_by_factors])
@pytest.mark.parametrize(("loss", "n_outputs"), [("multinomial", 3), ("ovr", 3), ("binary", 1)])
def test_sums_over_blocks_equal_those_with_the_whole_matrix_of_features(
    dtype: type, by: Any, loss: str, n_outputs: int
) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, 3)).astype(dtype)
    codes, weight = random.integers(0, max(2, n_outputs), 20_000), random.uniform(0.5, 1.5, 20_000)
    w = whitened(X.astype(np.float64), X[:9].astype(np.float64), by)
    samples = Samples(X, codes, weight)
    problem = LogisticObjective(samples, Features(KERNEL, X[:9]), SerialWorkers(), w, loss=loss, alpha=1e-3)
    phi = np.hstack([(KERNEL(X, X[:9]).astype(np.float64) - w.mean) @ w.transform, np.ones((20_000, 1))])
    theta, direction = 0.3 * random.normal(size=(2, 10, n_outputs))
    K_mm = np.zeros((10, 10))
    K_mm[:9, :9] = w.ridge(np.eye(9))
    centers = X[:9].astype(float)
    np.testing.assert_allclose(K_mm[:9, :9], w.transform.T @ KERNEL(centers, centers) @ w.transform, atol=1e-2)
    tolerance = 1e-9 if dtype == np.float64 else 1e-4

    def naive(theta: np.ndarray) -> tuple[float, np.ndarray]:
        residual = phi @ theta
        value = {**LOSSES, "binary": binary}[loss](residual, codes, weight) / 20_000
        return value + 0.5e-3 * np.trace(theta.T @ K_mm @ theta), phi.T @ residual / 20_000 + 1e-3 * K_mm @ theta

    value, gradient, curvature = problem.at(theta)
    assert value == pytest.approx(naive(theta)[0], rel=tolerance)
    np.testing.assert_allclose(gradient, naive(theta)[1], atol=tolerance)
    along = (naive(theta + 1e-4 * direction)[1] - naive(theta - 1e-4 * direction)[1]) / 2e-4
    product = problem.hessian_product(theta, direction)
    np.testing.assert_allclose(product, along, atol=1e-6 + tolerance)
    if n_outputs == 1:
        np.testing.assert_allclose(problem.hessian(theta) @ direction, product, atol=10 * tolerance)
        assert curvature[0] == pytest.approx(problem.hessian(theta)[-1, -1], rel=tolerance)


def test_memory_does_not_grow_with_the_samples() -> None:
    random = np.random.default_rng(0)
    X, codes = random.normal(size=(40_000, 3)), random.integers(0, 5, 40_000)
    w = whitened(X[:1000], X[:150])
    samples = Samples(X, codes, np.ones(40_000))
    problem = LogisticObjective(samples, Features(KERNEL, X[:150]), SerialWorkers(), w, loss="multinomial", alpha=1e-3)
    theta = np.zeros((w.transform.shape[1] + 1, 5))
    tracemalloc.start()
    problem.hessian_product(theta, problem.at(theta)[1])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6  # all features: 48e6


@pytest.mark.parametrize("separate", [False, True])
def test_conjugate_gradients_solve_a_definite_system(separate: bool) -> None:
    random = np.random.default_rng(0)
    A = random.normal(size=(3, 20, 20)) if separate else random.normal(size=(60, 60))
    A = A @ np.swapaxes(A, -1, -2) + 0.5 * np.eye(A.shape[-1])
    right = random.normal(size=(20, 3))

    def product(x: np.ndarray) -> np.ndarray:
        return np.einsum("sij,js->is", A, x) if separate else (A @ x.ravel()).reshape(x.shape)

    diagonal = np.stack([np.diag(a) for a in A], axis=1) if separate else np.diag(A).reshape(20, 3)
    x = conjugate_gradients(
        product, right, lambda r: r / diagonal, tolerance=1e-12, max_products=300, separate=separate
    )
    np.testing.assert_allclose(product(x), right, atol=1e-8)


def test_the_zero_right_hand_side_gives_zero() -> None:
    x = conjugate_gradients(lambda x: x, np.zeros((3, 2)), lambda x: x, tolerance=0.1, max_products=5, separate=True)
    np.testing.assert_array_equal(x, 0.0)


def test_the_binary_loss_and_its_derivative_are_one_column_of_one_vs_rest() -> None:
    random = np.random.default_rng(0)
    f, codes, weight = 5 * random.normal(size=(50, 1)), random.integers(0, 2, 50), random.random(50)
    f[:2] = [[800.0], [-800.0]]
    both = np.hstack([-f, f])
    expected = LOSSES["ovr"](both, codes, weight)
    assert binary(f, codes, weight) == pytest.approx(expected / 2, rel=1e-12)
    np.testing.assert_allclose(f[:, 0], both[:, 1], atol=1e-14)


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_float32_data_give_almost_the_model_of_float64(loss: str, n_classes: int) -> None:
    X, y = make_blobs(300, centers=n_classes, cluster_std=3.0, random_state=0)
    X = X.astype(np.float32).astype(np.float64)
    options: dict[str, Any] = {"selection": "random", "loss": loss, "solver": "irls", "alpha": 1e-4, "random_state": 0}
    wide, narrow = (SparseKernelLogisticClassifier(20, **options).fit(Z, y) for Z in (X, X.astype(np.float32)))
    assert narrow.dual_coef_.dtype == narrow.predict_proba(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(narrow.predict_proba(X.astype(np.float32)), wide.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("alpha", [0.0, 1e-7])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_separable_classes_give_finite_weights(alpha: float, n_classes: int) -> None:
    X, y = make_blobs(90, centers=n_classes, cluster_std=0.1, random_state=0)
    learner = SparseKernelLogisticClassifier(8, solver="irls", alpha=alpha).fit(X, y)
    assert np.isfinite(learner.dual_coef_).all()
    assert learner.score(X, y) == 1.0
    assert learner.training_loss_curve_[-1] < 1e-4


def test_newton_reads_digits_and_reaches_a_lower_objective_than_the_descent() -> None:
    X, y = load_digits(return_X_y=True)
    X = X.astype(np.float32)
    options: dict[str, Any] = {"sigma": 25.0, "alpha": 1e-5, "random_state": 0}
    newton = SparseKernelLogisticClassifier(100, solver="irls", tol=1e-7, **options).fit(X[:1200], y[:1200])
    descent = SparseKernelLogisticClassifier(100, **options).fit(X[:1200], y[:1200])
    np.testing.assert_array_equal(newton.basis_centers_, descent.basis_centers_)
    assert newton.n_iter_ == len(newton.training_loss_curve_) < 30
    assert newton.score(X[1200:], y[1200:]) > 0.93
    K_mm = newton.kernel_(newton.basis_centers_.astype(float), newton.basis_centers_.astype(float))

    def value(learner: SparseKernelLogisticClassifier) -> float:
        own = learner.predict_log_proba(X[:1200])[np.arange(1200), y[:1200]]
        W = learner.dual_coef_.astype(np.float64)
        return -float(own.mean()) + 0.5e-5 * float(np.trace(W.T @ K_mm @ W))

    assert value(newton) < value(descent)
    assert value(newton) == pytest.approx(newton.training_loss_curve_[-1], rel=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_a_warm_start_at_the_minimum_takes_one_step(n_classes: int, loss: str) -> None:
    X, y = make_blobs(200, centers=n_classes, cluster_std=3.0, random_state=0)
    learner = SparseKernelLogisticClassifier(15, solver="irls", loss=loss, alpha=1e-3, warm_start=True).fit(X, y)
    before = learner.decision_function(X)
    learner.fit(X, y)
    assert learner.n_iter_ == 1
    np.testing.assert_allclose(learner.decision_function(X), before, atol=1e-4)


def test_too_few_newton_steps_are_told() -> None:
    X, y = make_blobs(200, centers=3, cluster_std=3.0, random_state=0)
    with pytest.warns(ConvergenceWarning, match="1 Newton steps"):
        SparseKernelLogisticClassifier(15, solver="irls", max_newton_steps=1).fit(X, y)


@pytest.mark.parametrize("solver", ["irls", "descent"])
def test_a_precomputed_kernel_gives_the_model_of_the_kernel(solver: str) -> None:
    X, y = make_blobs(120, centers=3, cluster_std=3.0, random_state=0)
    kernel = GaussianKernel(2.5)
    weight = (np.arange(120) % 5 > 0).astype(float)
    for options in ({"selection": "orols"}, {"selection": "orols", "warm_start": True}):
        both = []
        for name, data, test in ((kernel, X, X[:40]), ("precomputed", kernel(X, X), kernel(X[:40], X))):
            learner = SparseKernelLogisticClassifier(
                12, kernel=name, solver=solver, alpha=1e-3, n_candidates=200, random_state=0, **options
            ).fit(data, y, weight)
            if "warm_start" in options:
                learner.fit(data, y, weight)
            both.append(learner.predict_proba(test))
        np.testing.assert_allclose(*both, atol=1e-3)


@pytest.mark.parametrize(("solver", "selection"), [("irls", "orols"), ("descent", "orols"), ("irls", "random")])
@pytest.mark.parametrize(
    "kernel",
    [
        FunctionKernel(lambda X, C: (1.0 + X @ C.T) ** 2),
        lambda X, C: np.tanh(0.1 * X @ C.T - 1.0),  # not positive semidefinite
        "precomputed",  # of an asymmetric matrix
        "linear",
        MultiscaleGaussianKernel([0.5, 2.0, 8.0]),
        "laplacian",
    ],
)
def test_any_kernel_gives_finite_weights_and_a_loss_below_that_of_the_priors(
    kernel: Any, solver: str, selection: str
) -> None:
    X, y = make_blobs(120, centers=3, cluster_std=2.0, random_state=0)
    if kernel == "precomputed":
        X = GaussianKernel(np.random.default_rng(0).uniform(1.0, 4.0, 120))(X, X)
    learner = SparseKernelLogisticClassifier(
        12, kernel=kernel, solver=solver, selection=selection, alpha=1e-4, random_state=0
    ).fit(X, y)
    assert np.isfinite(learner.dual_coef_).all()
    own = learner.predict_log_proba(X)[np.arange(120), y]
    assert -own.mean() < 0.8 * np.log(3)


def test_widths_of_their_own_go_with_the_centres() -> None:
    X, y = make_blobs(120, centers=2, cluster_std=3.0, random_state=0)
    sigma = np.random.default_rng(0).uniform(1.0, 4.0, 120)
    learner = SparseKernelLogisticClassifier(12, sigma=sigma, solver="irls").fit(X, y, (X[:, 0] > -3.0).astype(float))
    rows = [int(np.flatnonzero((c == X).all(axis=1))[0]) for c in learner.basis_centers_]
    np.testing.assert_array_equal(learner.sigma_, sigma[rows])
    restored = estimator_from_arrays(*estimator_to_arrays(learner))
    np.testing.assert_array_equal(restored.predict_proba(X), learner.predict_proba(X))


def test_auto_takes_newton_for_small_problems_and_descent_for_large() -> None:
    assert irls_is_affordable(5000, 200, 10) and irls_is_affordable(20_000, 500, 2)
    assert not irls_is_affordable(300_000, 1000, 400) and not irls_is_affordable(1_000_000, 1000, 2)
    X, y = make_blobs(100, centers=3, cluster_std=3.0, random_state=0)
    options: dict[str, Any] = {"n_centers": 10, "random_state": 0}
    auto = SparseKernelLogisticClassifier(solver="auto", **options).fit(X, y)
    newton = SparseKernelLogisticClassifier(solver="irls", **options).fit(X, y)
    np.testing.assert_array_equal(auto.dual_coef_, newton.dual_coef_)
