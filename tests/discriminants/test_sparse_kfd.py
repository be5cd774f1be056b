"""Sparse discriminants against the programmes that the source prints."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import load_iris, make_moons
from sklearn.linear_model import Lasso, QuantileRegressor

from discriminants import SparseKFDClassifier, SparseKFDRegressor
from discriminants.fisher.column_generation import ActiveSet, Columns, generate_columns
from discriminants.fisher.l1_least_squares import l1_least_squares
from discriminants.fisher.least_absolute_deviations import least_absolute_deviations
from discriminants.kernels import GaussianKernel, MultiscaleGaussianKernel

LOSSES = ["squared", "absolute"]


def _moons(n: int = 120) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y = make_moons(n, noise=0.25, random_state=0)
    keep = np.sort(np.r_[np.flatnonzero(y == 0)[: n // 3], np.flatnonzero(y == 1)])  # unequal classes
    return X[keep], y[keep], GaussianKernel(0.5)(X[keep], X[keep])


def _objective(K: np.ndarray, y: np.ndarray, learner: SparseKFDClassifier, X: np.ndarray) -> float:
    slack = y - learner.decision_function(X)
    loss = 0.5 * slack @ slack if learner.loss == "squared" else np.abs(slack).sum()
    return float(loss + learner.regularization * np.abs(learner.dual_coef_).sum())


@pytest.mark.parametrize("C", [0.1, 1.0, 5.0])
def test_squared_slacks_are_the_lasso_on_the_kernel_matrix(C: float) -> None:
    X, y, K = _moons()
    targets = 2.0 * y - 1
    learner = SparseKFDClassifier(sigma=0.5, regularization=C).fit(X, y)
    reference = Lasso(alpha=C / len(y), tol=1e-10, max_iter=1_000_000).fit(K, targets)
    best = 0.5 * ((targets - reference.predict(K)) ** 2).sum() + C * np.abs(reference.coef_).sum()
    assert _objective(K, targets, learner, X) == pytest.approx(best, rel=1e-4)
    np.testing.assert_allclose(learner.decision_function(X), reference.predict(K), atol=0.02)
    # (3.54): the correlation of a column with the slacks is at most C, and equals C for columns with a weight
    products = K @ (targets - learner.decision_function(X))
    assert np.abs(products).max() <= C * 1.002
    np.testing.assert_allclose(np.abs(products[learner.center_indices_]), C, rtol=5e-3)


@pytest.mark.parametrize("C", [0.1, 0.5, 2.0])
def test_absolute_slacks_are_quantile_regression_on_the_kernel_matrix(C: float) -> None:
    X, y, K = _moons()
    targets = 2.0 * y - 1
    learner = SparseKFDClassifier(sigma=0.5, regularization=C, loss="absolute", class_means="free").fit(X, y)
    reference = QuantileRegressor(quantile=0.5, alpha=C / (2 * len(y)), solver="highs").fit(K, targets)
    best = np.abs(targets - reference.predict(K)).sum() + C * np.abs(reference.coef_).sum()
    assert _objective(K, targets, learner, X) == pytest.approx(best, rel=2e-3)
    assert learner.n_centers_[0] <= (np.abs(reference.coef_) > 1e-9).sum() + 5


@pytest.mark.parametrize("C", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("sigma", [0.3, 2.0])
def test_absolute_slacks_with_fixed_class_means_are_the_linear_programme(sigma: float, C: float) -> None:
    X, y, _ = _moons()
    K, targets, n = GaussianKernel(sigma)(X, X), 2.0 * y - 1, len(y)
    slacks = np.hstack([np.eye(n), -np.eye(n)])
    sums = np.stack([np.r_[np.zeros(2 * n + 1), 1.0 * (y == c), -1.0 * (y == c)] for c in (0, 1)])
    programme = linprog(
        np.r_[np.full(2 * n, C), 0.0, np.ones(2 * n)],
        A_eq=np.vstack([np.hstack([K, -K, np.ones((n, 1)), slacks]), sums]),
        b_eq=np.r_[targets, 0.0, 0.0],
        bounds=[(0, None)] * (2 * n) + [(None, None)] + [(0, None)] * (2 * n),
        method="highs",
    )
    learner = SparseKFDClassifier(sigma=sigma, regularization=C, loss="absolute").fit(X, y)
    assert _objective(K, targets, learner, X) == pytest.approx(programme.fun, rel=2e-3)
    outputs = learner.decision_function(X)
    np.testing.assert_allclose([outputs[y == 0].mean(), outputs[y == 1].mean()], [-1.0, 1.0], atol=1e-5)
    n_weights = int((np.abs(programme.x[:n] - programme.x[n : 2 * n]) > 1e-9).sum())
    assert abs(int(learner.n_centers_[0]) - n_weights) <= 3


def test_fixed_class_means_keep_unequal_classes_apart_where_free_ones_have_no_weights_left() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    y = (X[:, 0] + 0.5 * random.normal(size=300) > 0.9).astype(int)  # a fifth
    for C in (10.0, 100.0):
        free, fixed = (
            SparseKFDClassifier(regularization=C, loss="absolute", class_means=means, threshold="soft_margin").fit(X, y)
            for means in ("free", "fixed")
        )
        assert free.n_centers_[0] == 0
        assert 0 < fixed.n_centers_[0] < 15
        assert fixed.score(X, y) > 0.87 > max(y.mean(), 1 - y.mean())


def test_columns_whose_class_means_are_equal_leave_the_bias_alone() -> None:
    X = np.repeat([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]], 5, axis=0)
    y = np.repeat([0, 0, 1, 1], 5)
    learner = SparseKFDClassifier(kernel="linear", loss="absolute").fit(X, y)
    assert learner.n_centers_[0] == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_columns_evaluated_anew_and_sampled_give_the_solution_over_all_of_them(
    loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, K = _moons(300)
    whole = SparseKFDClassifier(sigma=0.5, regularization=0.5, loss=loss).fit(X, y)
    monkeypatch.setattr("discriminants.fisher.column_generation._WHOLE", 10)
    sampled = SparseKFDClassifier(sigma=0.5, regularization=0.5, loss=loss).fit(X, y)
    targets = 2.0 * y - 1
    assert _objective(K, targets, sampled, X) == pytest.approx(_objective(K, targets, whole, X), rel=2e-3)


def test_columns_that_are_dropped_and_called_back_for_ever_stay_in_the_end() -> None:
    columns = Columns(GaussianKernel(1e-3), np.arange(40.0)[:, None])  # the identity matrix

    def solve(K: np.ndarray, targets: np.ndarray) -> ActiveSet:
        """One column has a weight; the multipliers call for all that are not there."""
        alpha = np.zeros(K.shape[1])
        alpha[0] = 1.0
        return ActiveSet(alpha, 0.0, 2.0 * (K.sum(axis=1) == 0))

    found = generate_columns(columns, np.ones(40), 1.0, solve, np.full(40, 2.0))
    assert found.n_rounds < 100


@pytest.mark.parametrize("loss", LOSSES)
def test_more_regularization_keeps_fewer_columns_down_to_none(loss: str) -> None:
    X, y, _ = _moons()
    sizes = [
        int(SparseKFDClassifier(sigma=0.5, regularization=C, loss=loss, class_means="free").fit(X, y).n_centers_[0])
        for C in (0.05, 0.5, 3.0, 1e3)
    ]
    assert sizes[0] > sizes[1] > sizes[2] > sizes[3] == 0
    nothing = SparseKFDClassifier(sigma=0.5, regularization=1e3, loss=loss, class_means="free").fit(X, y)
    assert np.unique(nothing.predict(X)).tolist() == [1]
    expected = 2 * y.mean() - 1 if loss == "squared" else 1.0
    np.testing.assert_allclose(nothing.decision_function(X), expected, atol=1e-6)


@pytest.mark.parametrize("seed", [927, 2341])
def test_where_predictor_and_corrector_go_round_in_a_circle_the_minimum_is_found_yet(seed: int) -> None:
    random = np.random.default_rng(seed)
    X = random.normal(size=(100, 2))
    K = np.exp(-((X[:, None] - X[:10]) ** 2).sum(axis=-1) / 8)
    y = np.where(X[:, 0] + random.normal(size=100) > 0, 1.0, -1.0)
    K, y = K - K.mean(axis=0), y - y.mean()
    C = 0.5 * float(np.abs(K.T @ y).max())
    alpha = l1_least_squares(K.T @ K, K.T @ y, float(y @ y), C)
    reference = Lasso(alpha=C / 100, fit_intercept=False, tol=1e-10).fit(K, y).coef_
    values = [((y - K @ a) ** 2).sum() / 2 + C * np.abs(a).sum() for a in (alpha, reference)]
    assert values[0] == pytest.approx(values[1], rel=1e-6)


def test_zeros_that_the_interior_point_leaves_are_no_centres() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(150, 2)), (random.random(150) < 0.3).astype(int)  # random labels, unequal classes
    for C in (2.0, 3.0):
        learner = SparseKFDClassifier(sigma=1.0, regularization=C, loss="absolute", class_means="free").fit(X, y)
        assert learner.n_centers_[0] == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_few_columns_are_enough(loss: str) -> None:
    X, y = make_moons(400, noise=0.2, random_state=1)
    learner = SparseKFDClassifier(sigma=0.5, regularization=1.0, loss=loss, threshold="soft_margin").fit(
        X[:200], y[:200]
    )
    assert learner.score(X[200:], y[200:]) > 0.93
    assert learner.n_centers_[0] < 40


@pytest.mark.parametrize("loss", LOSSES)
def test_several_classes_share_the_list_of_centres(loss: str) -> None:
    X, y = load_iris(return_X_y=True)
    learner = SparseKFDClassifier(sigma=1.5, regularization=0.3, loss=loss).fit(X, y)
    assert learner.score(X, y) > 0.95
    np.testing.assert_array_equal((learner.dual_coef_ != 0).sum(axis=0), learner.n_centers_)
    np.testing.assert_array_equal(X[learner.center_indices_], learner.basis_centers_)
    assert np.unique(learner.basis_centers_, axis=0).shape == learner.basis_centers_.shape


def test_every_width_of_a_sample_is_a_column_of_its_own() -> None:
    X, y, _ = _moons()
    learner = SparseKFDClassifier(kernel=MultiscaleGaussianKernel([0.3, 1.0]), regularization=0.5).fit(X, y)
    assert set(np.unique(learner.sigma_)) <= {0.3, 1.0}
    assert learner.score(X, y) > 0.9


@pytest.mark.parametrize(("n", "p"), [(40, 3), (200, 30)])
def test_least_absolute_deviations_are_those_of_the_linear_programme(n: int, p: int) -> None:
    random = np.random.default_rng(n)
    X, y = random.normal(size=(n, p)), random.normal(size=n)
    found = least_absolute_deviations(X, y)
    programme = linprog(
        np.r_[np.zeros(2 * p), np.ones(2 * n)], A_eq=np.hstack([X, -X, np.eye(n), -np.eye(n)]), b_eq=y, method="highs"
    )
    assert np.abs(y - X @ found.theta).sum() == pytest.approx(programme.fun, rel=1e-7)
    assert y @ found.multipliers == pytest.approx(programme.fun, rel=1e-6)
    np.testing.assert_allclose(X.T @ found.multipliers, 0.0, atol=1e-5)
    assert np.abs(found.multipliers).max() <= 1.0


@pytest.mark.parametrize("free", [False, True])
def test_a_penalty_on_weights_is_a_row_for_each_of_them(*, free: bool) -> None:
    random = np.random.default_rng(1)
    X, y, penalty = random.normal(size=(60, 20)), random.normal(size=60), random.uniform(0.5, 4.0, size=20)
    if free:
        penalty[::3] = 0.0
    found = least_absolute_deviations(X, y, penalty)
    written_out = least_absolute_deviations(np.vstack([X, np.diag(penalty)]), np.append(y, np.zeros(20)))
    np.testing.assert_allclose(found.theta, written_out.theta, atol=1e-6)
    np.testing.assert_allclose(found.multipliers, written_out.multipliers[:60], atol=1e-5)
    objective = np.abs(y - X @ found.theta).sum() + penalty @ np.abs(found.theta)
    assert objective == pytest.approx(y @ found.multipliers, rel=1e-7)
    assert (np.abs(X.T @ found.multipliers) <= penalty + 1e-5).all()


@pytest.mark.parametrize("seed", range(6))
def test_columns_that_nearly_depend_on_each_other_have_least_absolute_deviations_too(seed: int) -> None:
    random = np.random.default_rng(seed)
    points = random.normal(size=(30, 2))
    K = np.exp(-((points[:, None] - points) ** 2).sum(axis=2) / 200.0)  # of rank about five
    y = np.where(random.random(30) < 0.5, 1.0, -1.0)
    X, penalty = np.hstack([K, np.ones((30, 1))]), np.append(np.full(30, 1e-6), 0.0)
    found = least_absolute_deviations(X, y, penalty)
    objective = np.abs(y - X @ found.theta).sum() + penalty @ np.abs(found.theta)
    assert objective == pytest.approx(y @ found.multipliers, abs=1e-4 * 30)
    np.testing.assert_allclose(X.T @ found.multipliers, 0.0, atol=2e-5)


def test_noisy_sinc_takes_a_few_centres() -> None:
    x = np.linspace(-10, 10, 100)
    y = np.sinc(x / np.pi)
    noisy = y + np.random.default_rng(0).normal(0, 0.2, 100)
    for target, width, C, error in ((y, 4.0, 0.01, 0.02), (noisy, 3.0, 0.1, 0.12)):
        learner = SparseKFDRegressor(sigma=np.sqrt(width / 2), regularization=C).fit(x[:, None], target)
        assert np.sqrt(np.mean((learner.predict(x[:, None]) - y) ** 2)) < error
        assert learner.n_centers_[0] < 40


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_where_targets_lie_and_how_far_they_spread_does_not_matter(loss: str) -> None:
    random = np.random.default_rng(1)
    x = random.uniform(-3, 3, (80, 2))
    y = np.sin(x[:, 0]) + x[:, 1]
    plain = SparseKFDRegressor(loss=loss).fit(x, y)
    for offset, size in ((100.0, 1.0), (-1e4, 1.0), (5.0, 1e3)):
        moved = SparseKFDRegressor(loss=loss).fit(x, offset + size * y)
        np.testing.assert_allclose(moved.predict(x), offset + size * plain.predict(x), atol=1e-4 * size)
