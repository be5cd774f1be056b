"""How many centres the forward-selection learners keep, against criteria worked out from dense least-squares fits."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold

from discriminants import NPDClassifier, NPDRegressor, OLSClassifier, OLSRegressor, OROLSClassifier, OROLSRegressor

N = 80
X = np.random.default_rng(0).normal(size=(N, 2))
CLASSES = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 0] > 1)
SMOOTH = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2, X[:, 0] + 3])
SMOOTH = SMOOTH + 0.3 * np.random.default_rng(1).normal(size=SMOOTH.shape)
FORMS: list[dict[str, Any]] = [{"n_candidates": None}, {"n_candidates": N}]
SIGMA, MOST = 1.0, 25
PLAIN = [NPDClassifier, OLSClassifier, NPDRegressor, OLSRegressor]


def gaussians(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2) / (2 * SIGMA**2))


def design(rows: np.ndarray) -> np.ndarray:
    return np.hstack([np.ones((N, 1)), gaussians(X, X[rows])])


def targets(learner: Any) -> tuple[np.ndarray, np.ndarray]:
    """What `fit` is given, and the targets that stand for it."""
    if not is_classifier(learner):
        return SMOOTH, SMOOTH
    return CLASSES, np.where(CLASSES[:, None] == np.arange(3), 1.0, -1.0)


def residuals(rows: np.ndarray, Y: np.ndarray) -> np.ndarray:
    A = design(rows)
    return Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]


def gcv(rss: np.ndarray, tss: np.ndarray, k: int) -> float:
    return float(N * rss.sum() / (N - k) ** 2)


def bic(rss: np.ndarray, tss: np.ndarray, k: int) -> float:
    return float((N * np.log(rss / N) + k * np.log(N)).sum())


def gmdl(rss: np.ndarray, tss: np.ndarray, k: int) -> float:
    """Hansen and Yu (2001), table 1, term by term."""
    total = 0.0
    for r, t in zip(rss, tss, strict=True):
        if 1 - r / t > k / N:
            S = r / (N - k)
            F = (t - r) / (k * S)
            total += N / 2 * np.log(S) + k / 2 * np.log(F) + np.log(N)
        else:
            total += N / 2 * np.log(t / N) + np.log(N) / 2
    return float(total)


CRITERIA: dict[str, Callable[[np.ndarray, np.ndarray, int], float]] = {"gcv": gcv, "bic": bic, "mdl": gmdl}


def best_size(criterion: str, order: np.ndarray, Y: np.ndarray) -> int:
    tss = ((Y - Y.mean(axis=0)) ** 2).sum(axis=0)
    values = [
        CRITERIA[criterion]((residuals(order[:m], Y) ** 2).sum(axis=0), tss, m + 1)
        for m in range(1, order.shape[0] + 1)
    ]
    return 1 + int(np.argmin(values))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("criterion", sorted(CRITERIA))
@pytest.mark.parametrize("learner_class", PLAIN)
def test_a_criterion_keeps_the_size_at_which_it_is_smallest(
    learner_class: Any, criterion: str, form: dict[str, Any]
) -> None:
    learner = learner_class(MOST, sigma=SIGMA, criterion=None, **form)
    y, Y = targets(learner)
    order = clone(learner).fit(X, y).center_indices_
    size = best_size(criterion, order, Y)
    assert 1 < size <= MOST
    chosen = learner.set_params(criterion=criterion).fit(X, y)
    np.testing.assert_array_equal(chosen.center_indices_, order[:size])
    np.testing.assert_array_equal(chosen.n_centers_, [size])
    W = np.linalg.lstsq(design(order[:size]), Y, rcond=None)[0]
    np.testing.assert_allclose(chosen.dual_coef_, W[1:], rtol=0, atol=1e-6 * np.abs(W).max())
    np.testing.assert_allclose(chosen.intercept_, W[0], rtol=0, atol=1e-6 * np.abs(W).max())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("criterion", sorted(CRITERIA))
@pytest.mark.parametrize("learner_class", [NPDClassifier, NPDRegressor])
def test_every_private_dictionary_has_the_size_that_is_best_for_its_output(
    learner_class: Any, criterion: str, form: dict[str, Any]
) -> None:
    learner = learner_class(MOST, sigma=SIGMA, dictionary="private", criterion=criterion, **form)
    y, Y = targets(learner)
    learner.fit(X, y)
    for s in range(3):
        order = NPDRegressor(MOST, sigma=SIGMA, criterion=None, **form).fit(X, Y[:, s]).center_indices_
        size = best_size(criterion, order, Y[:, s : s + 1])
        assert learner.n_centers_[s] == size
        used = learner.center_indices_[learner.dual_coef_[:, s] != 0]
        np.testing.assert_array_equal(used, np.sort(order[:size]))


@pytest.mark.parametrize("learner_class", [OROLSClassifier, OROLSRegressor])
def test_the_criteria_of_regularized_models_count_the_trace_of_the_smoother(learner_class: Any) -> None:
    learner = learner_class(MOST, sigma=SIGMA, tol=0.0, criterion=None)
    y, Y = targets(learner)
    tss = ((Y - Y.mean(axis=0)) ** 2).sum(axis=0)
    values: dict[str, list[float]] = {name: [] for name in CRITERIA}
    for m in range(1, MOST + 1):
        step = clone(learner).set_params(n_centers=m).fit(X, y)
        A = design(step.center_indices_)
        R = np.linalg.qr(A)[1]
        U = R / np.diagonal(R)[:, None]
        smoother = A @ np.linalg.solve(A.T @ A + step.lambda_[0] * U.T @ U, A.T)
        rss = ((Y - smoother @ Y) ** 2).sum(axis=0)
        for name, criterion in CRITERIA.items():
            values[name].append(criterion(rss, tss, np.trace(smoother)))
    for name in CRITERIA:
        chosen = clone(learner).set_params(criterion=name).fit(X, y)
        assert chosen.n_centers_[0] == 1 + int(np.argmin(values[name]))


@pytest.mark.parametrize("dictionary", ["shared", "private"])
@pytest.mark.parametrize(
    "learner_class", [NPDClassifier, OROLSClassifier, OLSClassifier, NPDRegressor, OROLSRegressor, OLSRegressor]
)
def test_cross_validation_keeps_the_size_that_a_plain_loop_over_the_folds_finds(
    learner_class: Any, dictionary: str
) -> None:
    learner = learner_class(7, sigma=SIGMA, dictionary=dictionary, n_candidates=None, criterion=None)
    if is_classifier(learner):
        learner.set_params(decide_by="output")  # as in the comparison of sizes by the folds
    y, _ = targets(learner)
    splitter: Any = StratifiedKFold if is_classifier(learner) else KFold
    losses = np.zeros(7)
    for train, held_out in splitter(3, shuffle=True, random_state=0).split(X, y if is_classifier(learner) else None):
        for m in range(1, 8):
            step = clone(learner).set_params(n_centers=m).fit(X[train], y[train])
            wrong = step.predict(X[held_out]) - y[held_out]
            losses[m - 1] += (wrong != 0).sum() if is_classifier(learner) else (wrong**2).sum()
    chosen = clone(learner).set_params(criterion="cv", cv=3).fit(X, y)
    everything = clone(learner).set_params(n_centers=1 + int(np.argmin(losses))).fit(X, y)
    np.testing.assert_array_equal(chosen.n_centers_, everything.n_centers_)
    np.testing.assert_array_equal(chosen.center_indices_, everything.center_indices_)
    np.testing.assert_allclose(chosen.dual_coef_, everything.dual_coef_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("learner_class", [NPDClassifier, OROLSClassifier, OLSClassifier])
def test_a_class_of_one_sample_is_learnt_in_every_fold(learner_class: Any) -> None:
    random = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [45, 45, 1])
    samples = 3 * np.eye(3, 4)[y] + random.normal(size=(91, 4))
    few = learner_class().fit(samples, y)
    assert few.n_centers_[0] < 30
    new = np.repeat([0, 1], 500)
    assert few.score(3 * np.eye(3, 4)[new] + random.normal(size=(1000, 4)), new) > 0.95


@pytest.mark.parametrize("learner_class", [NPDClassifier, NPDRegressor])
def test_cross_validation_works_where_each_sample_has_its_own_width_or_the_kernel_is_precomputed(
    learner_class: Any,
) -> None:
    widths = np.full(N, SIGMA)
    learner = learner_class(15, criterion="cv", cv=4, n_candidates=None)
    y, _ = targets(learner)
    expected = clone(learner).set_params(sigma=SIGMA).fit(X, y)
    own = clone(learner).set_params(sigma=widths).fit(X, y)
    matrix = clone(learner).set_params(kernel="precomputed").fit(gaussians(X, X), y)
    for found in (own, matrix):
        np.testing.assert_array_equal(found.center_indices_, expected.center_indices_)
        np.testing.assert_allclose(found.dual_coef_, expected.dual_coef_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("rule", ["largest_residual", "error_reduction"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("learner_class", [NPDClassifier, NPDRegressor])
def test_selection_ends_with_the_first_centre_that_brings_every_residual_below_the_threshold(
    learner_class: Any, form: dict[str, Any], rule: str
) -> None:
    learner = learner_class(60, sigma=SIGMA, rule=rule, criterion=None, **form)
    y, Y = targets(learner)
    order = clone(learner).fit(X, y).center_indices_
    largest = [np.abs(residuals(order[:m], Y)).max() for m in range(1, order.shape[0] + 1)]
    for threshold in (1.001 * largest[6], 1.001 * largest[30]):
        expected = 1 + next(m for m, value in enumerate(largest) if value < threshold)
        stopped = clone(learner).set_params(residual_threshold=threshold).fit(X, y)
        np.testing.assert_array_equal(stopped.center_indices_, order[:expected])


@pytest.mark.parametrize("learner_class", [OLSClassifier, OLSRegressor])
@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
def test_orthogonal_least_squares_ends_when_enough_is_explained(learner_class: Any, share: float) -> None:
    learner = learner_class(60, sigma=SIGMA, criterion=None)
    y, Y = targets(learner)
    order = clone(learner).fit(X, y).center_indices_
    total = ((Y - Y.mean(axis=0)) ** 2).sum()
    shares = [(residuals(order[:m], Y) ** 2).sum() / total for m in range(1, order.shape[0] + 1)]
    expected = next((m for m, value in enumerate(shares, 1) if value <= share), order.shape[0])
    stopped = learner.set_params(unexplained=share).fit(X, y)
    np.testing.assert_array_equal(stopped.center_indices_, order[:expected])


@pytest.mark.parametrize("patience", [1, 4])
@pytest.mark.parametrize("learner_class", [OROLSClassifier, OROLSRegressor])
def test_orols_ends_when_lambda_has_settled_for_as_many_steps_as_asked(learner_class: Any, patience: int) -> None:
    tol = 0.02
    learner = learner_class(50, sigma=SIGMA, tol=0.0, criterion=None)
    y, _ = targets(learner)
    order = clone(learner).fit(X, y).center_indices_
    before, settled, expected = 0.0, 0, order.shape[0]
    for m in range(1, order.shape[0] + 1):
        lam = clone(learner).set_params(n_centers=m).fit(X, y).lambda_[0]
        settled = settled + 1 if abs(lam - before) < tol * lam else 0
        before = lam
        if settled == patience:
            expected = m
            break
    assert expected < order.shape[0]
    stopped = learner.set_params(tol=tol, patience=patience).fit(X, y)
    np.testing.assert_array_equal(stopped.center_indices_, order[:expected])


@pytest.mark.parametrize("limit", [3.0, 30.0])
@pytest.mark.parametrize("learner_class", [OROLSClassifier, OROLSRegressor])
def test_orols_ends_when_the_orthogonal_columns_differ_too_much_in_length(learner_class: Any, limit: float) -> None:
    learner = learner_class(50, sigma=SIGMA, tol=0.0, criterion=None)
    y, _ = targets(learner)
    order = clone(learner).fit(X, y).center_indices_
    lengths = np.abs(np.diagonal(np.linalg.qr(design(order))[1]))[1:]
    expected = next(m for m in range(1, 51) if lengths[:m].max() > limit * lengths[:m].min())
    stopped = learner.set_params(max_condition=limit).fit(X, y)
    np.testing.assert_array_equal(stopped.center_indices_, order[:expected])


@pytest.mark.parametrize("learner_class", [OROLSClassifier, OROLSRegressor])
@pytest.mark.parametrize("size", [1e-100, 1e-9])
def test_the_condition_of_the_columns_does_not_depend_on_the_scale_of_the_kernel(
    learner_class: Any, size: float
) -> None:
    learner = learner_class(20, kernel="precomputed", tol=0.0, criterion=None)
    y, _ = targets(learner)
    scaled = clone(learner).fit(size * gaussians(X, X), y)
    assert scaled.n_centers_[0] == learner.fit(gaussians(X, X), y).n_centers_[0] == 20
    assert np.isfinite(scaled.lambda_).all()


@pytest.mark.parametrize("criterion", [*CRITERIA, "cv"])
def test_criteria_stay_defined_where_the_fit_is_exact(criterion: str) -> None:
    flat = NPDRegressor(MOST, sigma=SIGMA, criterion=criterion).fit(X, np.zeros(N))
    np.testing.assert_array_equal(flat.dual_coef_, 0.0)
    exact = NPDRegressor(N, sigma=0.3, criterion=criterion).fit(X, SMOOTH)
    assert np.isfinite(exact.dual_coef_).all()
    assert exact.n_centers_[0] >= 1
