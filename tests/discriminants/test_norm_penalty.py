"""The penalty on the norm of the expansion, against dense linear algebra and the dense discriminant."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold

from discriminants import KFDClassifier, NPDClassifier, NPDRegressor, OROLSClassifier, OROLSRegressor
from discriminants.kernels import MultiscaleGaussianKernel

WIDTH, PENALTY = 1.2, 0.7
X = np.random.default_rng(3).normal(size=(70, 3))
CODES = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 0.5)
SMOOTH = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1], X[:, 2] ** 2 + 4.0])


def gaussians(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2) / (2 * WIDTH**2))


def penalised(rows: np.ndarray, Y: np.ndarray, epsilon: float = 0.0) -> tuple[np.ndarray, float]:
    """Weights (the bias first) on these centres and the penalised error, from the normal equations."""
    K = gaussians(X, X) + epsilon * np.eye(X.shape[0])
    A = np.hstack([np.ones((X.shape[0], 1)), K[:, rows]])
    P = np.zeros((A.shape[1], A.shape[1]))
    P[1:, 1:] = PENALTY * K[np.ix_(rows, rows)]
    W = np.linalg.solve(A.T @ A + P, A.T @ Y)
    return W, float(((Y - A @ W) ** 2).sum() + np.einsum("is,ij,js->", W, P, W))


def targets(learner: Any) -> tuple[np.ndarray, np.ndarray]:
    return (CODES, 2.0 * np.eye(3)[CODES] - 1.0) if is_classifier(learner) else (SMOOTH, SMOOTH)


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("kernel", ["gaussian", "precomputed"])
@pytest.mark.parametrize("learner", [NPDClassifier(), NPDRegressor()], ids=["classifier", "regressor"])
def test_each_step_takes_the_centre_of_least_penalised_error(learner: Any, kernel: str, epsilon: float) -> None:
    y, Y = targets(learner)
    width: dict[str, Any] = {} if kernel == "precomputed" else {"sigma": WIDTH}
    learner = clone(learner).set_params(n_centers=8, kernel=kernel, epsilon=epsilon, norm_penalty=PENALTY, **width)
    learner.fit(gaussians(X, X) if kernel == "precomputed" else X, y)
    chosen: list[int] = []
    for _ in range(8):
        left = [row for row in range(X.shape[0]) if row not in chosen]
        errors = [penalised(np.array([*chosen, row]), Y, epsilon)[1] for row in left]
        chosen.append(left[int(np.argmin(errors))])
    np.testing.assert_array_equal(learner.center_indices_, chosen)
    weights = np.vstack([learner.intercept_, learner.dual_coef_])
    np.testing.assert_allclose(weights, penalised(np.array(chosen), Y, epsilon)[0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("learner", [OROLSClassifier(), OROLSRegressor()], ids=["classifier", "regressor"])
def test_orols_takes_the_penalty_for_further_samples_with_target_zero(learner: Any) -> None:
    y, Y = targets(learner)
    learner = clone(learner).set_params(n_centers=8, sigma=WIDTH, norm_penalty=PENALTY).fit(X, y)
    rows, lam = learner.center_indices_, learner.lambda_[0]
    root = np.linalg.cholesky(PENALTY * gaussians(X[rows], X[rows])).T
    A = np.vstack([np.hstack([np.ones((70, 1)), gaussians(X, X[rows])]), np.hstack([np.zeros((8, 1)), root])])
    padded = np.vstack([Y, np.zeros((8, Y.shape[1]))])
    R = np.linalg.qr(A, mode="r")
    U = R / np.diag(R)[:, None]
    smoother = A @ np.linalg.solve(A.T @ A + lam * U.T @ U, A.T)
    W = np.linalg.solve(A.T @ A + lam * U.T @ U, A.T @ padded)
    np.testing.assert_allclose(np.vstack([learner.intercept_, learner.dual_coef_]), W, rtol=0, atol=1e-9)
    error = ((padded - smoother @ padded) ** 2).sum()
    assert learner.gcv_[0] == pytest.approx(70 * error / (70 - np.trace(smoother)) ** 2, rel=1e-8)
    assert lam > 0


@pytest.mark.parametrize("rule", ["error_reduction", "largest_residual", "matching_pursuit"])
@pytest.mark.parametrize("dictionary", ["shared", "private"])
def test_with_all_centres_it_is_the_dense_discriminant(rule: str, dictionary: str) -> None:
    sparse = NPDClassifier(70, sigma=WIDTH, norm_penalty=PENALTY, rule=rule, dictionary=dictionary, criterion=None)
    sparse.fit(X, CODES)
    dense = KFDClassifier(sigma=WIDTH, regularization=PENALTY, penalty="kernel").fit(X, CODES)
    assert sparse.basis_centers_.shape == (70, 3)
    new = X + 0.1
    np.testing.assert_allclose(sparse.decision_function(new), dense.decision_function(new), rtol=0, atol=1e-9)


def test_the_largest_residual_is_that_of_the_penalised_model() -> None:
    learner = NPDRegressor(9, sigma=WIDTH, norm_penalty=PENALTY, rule="largest_residual").fit(X, SMOOTH[:, 0])
    for m in range(1, 9):
        before = learner.center_indices_[:m]
        W = penalised(before, SMOOTH[:, :1])[0]
        residual = np.abs(SMOOTH[:, 0] - W[0] - gaussians(X, X[before]) @ W[1:, 0])
        residual[before] = 0.0
        assert learner.center_indices_[m] == np.argmax(residual)


def test_cross_validation_of_the_size_knows_the_penalty() -> None:
    y = SMOOTH[:, 0] + np.random.default_rng(4).normal(size=70)
    learner = NPDRegressor(3, sigma=WIDTH, norm_penalty=PENALTY, criterion="cv", cv=4).fit(X, y)
    errors = np.zeros(3)
    for train, held_out in KFold(4, shuffle=True, random_state=0).split(X):
        for m in range(1, 4):
            model = NPDRegressor(m, sigma=WIDTH, norm_penalty=PENALTY).fit(X[train], y[train])
            errors[m - 1] += ((model.predict(X[held_out]) - y[held_out]) ** 2).sum()
    assert learner.n_centers_ == 1 + np.argmin(errors)


@pytest.mark.parametrize("learner", [NPDClassifier(10), OROLSClassifier(10)], ids=["npd", "orols"])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_candidates": None}, "n_candidates"),
        ({"criterion": "gcv"}, "criterion"),
        ({"sigma": np.linspace(0.5, 2.0, 70)}, "symmetric"),
        ({"kernel": MultiscaleGaussianKernel([0.7, 1.7])}, "symmetric"),
    ],
)
def test_where_the_penalty_has_no_meaning_it_is_refused(learner: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        clone(learner).set_params(norm_penalty=PENALTY, **settings).fit(X, CODES)
    clone(learner).set_params(norm_penalty=0.0, **settings).fit(X, CODES)
