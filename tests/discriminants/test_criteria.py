"""Selection criteria against their definitions, and as scores of a search."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from discriminants import (
    BayesianLSSVMRegressor,
    FixedSizeLSSVMRegressor,
    GaussianKernel,
    LinearDiscriminant,
    LSSVMClassifier,
    LSSVMRegressor,
    OROLSClassifier,
    ShrinkingGridSearchCV,
    WeightedLSSVMRegressor,
    criterion_scorer,
    selection_criterion,
)
from discriminants.model_selection.criteria import CRITERIA, kernel_alignment, squared_radius

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-3, 3, size=(40, 2))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2]) + 0.2 * RANDOM.normal(size=(40, 2))
MACHINE = LSSVMRegressor(sigma=1.5, regularization=0.3)


def left_out(model: Any, X: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Residuals of the machines without each sample, by fitting them all."""
    found = []
    for i in range(X.shape[0]):
        others = np.arange(X.shape[0]) != i
        found.append(targets[i] - clone(model).fit(X[others], targets[others]).predict(X[[i]])[0])
    return np.array(found)


def smoother(model: Any, X: np.ndarray) -> np.ndarray:
    """The matrix that maps targets to predictions, by fitting unit vectors."""
    return clone(model).fit(X, np.eye(X.shape[0])).predict(X)


@pytest.mark.parametrize("solver", ["direct", "conjugate_gradient"])
def test_robust_criteria_equal_their_definitions_on_all_refits(solver: str) -> None:
    e = left_out(MACHINE, X, Y)
    model = clone(MACHINE).set_params(solver=solver, tol=1e-12).fit(X, Y)
    losses = []
    for residuals in e.T:
        knee = 1.5 * 1.4826 * np.median(np.abs(residuals))
        losses += [r**2 if abs(r) <= knee else 2 * knee * abs(r) - knee**2 for r in residuals]
    naive = {
        "huber": np.mean(losses),
        "leave_one_out": np.mean(e**2),
        "trimmed": np.mean(np.sort(e**2, axis=0)[:32]),
        "interquartile": np.mean([(np.subtract(*np.quantile(r, [0.75, 0.25])) / 1.349) ** 2 for r in e.T]),
    }
    for criterion, expected in naive.items():
        assert selection_criterion(model, X, Y, criterion) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("model", [MACHINE, FixedSizeLSSVMRegressor(15, sigma=1.5, regularization=0.3, random_state=0)])
def test_criteria_of_effective_parameters_equal_their_definitions(model: Any) -> None:
    S, n = smoother(model, X), X.shape[0]
    share = np.trace(S) / n
    error = np.mean((Y - S @ Y) ** 2)
    fitted = clone(model).fit(X, Y)
    naive = {
        "fpe": (1 + share) / (1 - share),
        "gcv": 1 / (1 - share) ** 2,
        "shibata": 1 + 2 * share,
        "schwarz": 1 + share * np.log(n) / 2 / (1 - share),
    }
    for criterion, factor in naive.items():
        assert selection_criterion(fitted, X, Y, criterion) == pytest.approx(error * factor, rel=1e-6)


def test_gcv_and_leave_one_out_are_those_of_the_machine() -> None:
    for choose_by in ("leave_one_out", "gcv"):
        model = LSSVMRegressor(sigma=1.5, regularization=[0.01, 0.1, 1.0], choose_by=choose_by).fit(X, Y)
        assert model.criterion_ is not None
        assert selection_criterion(model, X, Y, choose_by) == pytest.approx(model.criterion_.min(), rel=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifier_is_judged_by_its_class_codes(n_classes: int) -> None:
    data, labels = load_iris(return_X_y=True)
    data, labels = data[labels < n_classes][::3], labels[labels < n_classes][::3]
    model = LSSVMClassifier(sigma=1.0, regularization=0.1).fit(data, labels)
    targets = np.where(labels[:, None] == np.arange(n_classes), 1.0, -1.0)[:, -1 if n_classes == 2 else 0 :]
    e = left_out(LSSVMRegressor(sigma=1.0, regularization=0.1), data, targets)
    assert selection_criterion(model, data, labels) == pytest.approx(np.mean(e**2), rel=1e-6)


def test_alignment_is_the_cosine_of_centered_matrices() -> None:
    K, T = rbf_kernel(X), Y
    H = np.eye(40) - 1 / 40
    left, right = H @ K @ H, H @ T @ T.T @ H
    cosine = (left * right).sum() / np.linalg.norm(left) / np.linalg.norm(right)
    assert kernel_alignment(K, T) == pytest.approx(cosine)
    assert kernel_alignment(T @ T.T, T) == pytest.approx(kernel_alignment(5 + 3 * T @ T.T, T))
    assert kernel_alignment(np.ones((40, 40)), T) == 0.0
    side = X[:, 0] > 0
    assert kernel_alignment(np.outer(side, side) + 0.0, side[:, None] + 0.0) == pytest.approx(1.0)
    sparse = OROLSClassifier(5, kernel=GaussianKernel(1.0), criterion=None).fit(X, side)
    expected = kernel_alignment(rbf_kernel(X), np.where(side, 1.0, -1.0)[:, None])
    assert selection_criterion(sparse, X, side, "alignment") == pytest.approx(-expected, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_radius_is_that_of_a_general_solver(seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(12, 2))
    K = points @ points.T
    start = np.full(12, 1 / 12)
    found = minimize(
        lambda w: w @ K @ w - w @ K.diagonal(),
        start,
        bounds=[(0, 1)] * 12,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert squared_radius(K) == pytest.approx(-found.fun, rel=1e-5)
    assert squared_radius(np.eye(5)) == pytest.approx(0.8)
    assert squared_radius(np.ones((3, 3))) == 0.0


def test_radius_margin_is_the_norm_times_the_radius() -> None:
    data, labels = make_moons(30, noise=0.2, random_state=0)
    model = LSSVMClassifier(sigma=0.7, regularization=0.2).fit(data, labels)
    K, alpha = GaussianKernel(0.7)(data, data) + 0.2 * np.eye(30), model.dual_coef_[:, 0]
    expected = squared_radius(K) * alpha @ K @ alpha / 30
    assert selection_criterion(model, data, labels, "radius_margin") == pytest.approx(expected, rel=1e-6)


def test_evidence_is_that_of_the_machine() -> None:
    model = BayesianLSSVMRegressor(tune_width=False).fit(X, Y[:, 0])
    assert selection_criterion(model, X, Y[:, 0], "evidence") == -model.log_evidence_[0]


@pytest.mark.parametrize("criterion", [name for name in CRITERIA if name != "evidence"])
def test_searches_find_the_best_candidate_of_a_pipeline(criterion: str) -> None:
    data, labels = make_moons(60, noise=0.2, random_state=1)
    rows, widths = np.arange(60), [0.01, 0.4, 30.0]
    pipeline = make_pipeline(StandardScaler(), LSSVMClassifier(regularization=0.1))
    grid = {"lssvmclassifier__sigma": widths}
    scoring, cv = criterion_scorer(criterion), [(rows, rows)]
    search = GridSearchCV(pipeline, grid, scoring=scoring, cv=cv, error_score="raise").fit(data, labels)
    values = [
        selection_criterion(
            clone(pipeline).set_params(lssvmclassifier__sigma=width).fit(data, labels), data, labels, criterion
        )
        for width in widths
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], [-value for value in values], rtol=1e-9)
    if criterion not in ("shibata", "alignment", "radius_margin"):  # which prefer an extreme here
        assert search.best_params_["lssvmclassifier__sigma"] == 0.4
    finer = ShrinkingGridSearchCV(pipeline, grid, n_refinements=1, scoring=scoring, cv=cv).fit(data, labels)
    assert finer.best_score_ >= search.best_score_


@pytest.mark.parametrize("criterion", ["huber", "trimmed", "interquartile"])
def test_robust_criteria_choose_smoother_curves_than_outliers_suggest(criterion: str) -> None:
    """Contamination of 15 %, as in the experiment of Suykens et al. (2002, section 5.3.4)."""
    x = np.linspace(-3, 3, 120)[:, None]
    truth = np.sinc(x[:, 0])
    distances = []
    for seed in range(5):
        random = np.random.default_rng(seed)
        y = truth + 0.1 * random.normal(size=120)
        y[random.choice(120, 18, replace=False)] += random.normal(scale=3.0, size=18)
        models = [WeightedLSSVMRegressor(sigma=s, regularization=0.1).fit(x, y) for s in (0.03, 0.1, 0.3, 1.0)]
        values = {name: [selection_criterion(m, x, y, name) for m in models] for name in ("leave_one_out", criterion)}
        errors = [np.mean((m.predict(x) - truth) ** 2) for m in models]
        distances.append([errors[int(np.argmin(values[name]))] for name in ("leave_one_out", criterion)])
    plain, robust = np.mean(distances, axis=0)
    assert robust <= plain


def test_precomputed_kernels_give_the_same() -> None:
    K, side = rbf_kernel(X, gamma=0.5), X[:, 0] > 0
    for criterion in ("fpe", "trimmed", "alignment", "radius_margin"):
        given = LSSVMClassifier(kernel="precomputed", regularization=0.1).fit(K, side)
        own = LSSVMClassifier(sigma=1.0, regularization=0.1).fit(X, side)
        expected = selection_criterion(own, X, side, criterion)
        assert selection_criterion(given, K, side, criterion) == pytest.approx(expected, rel=1e-6)


SIDE = X[:, 0] > 0


@pytest.mark.parametrize(
    ("model", "y", "criterion", "message"),
    [
        (MACHINE, Y, "aic", "must be one of"),
        (MACHINE, Y, "evidence", "log_evidence_"),
        (MACHINE, Y, "radius_margin", "LSSVMClassifier"),
        (WeightedLSSVMRegressor(), Y, "fpe", "WeightedLSSVMRegressor"),
        (OROLSClassifier(5), SIDE, "gcv", "OROLSClassifier"),
        (LinearDiscriminant(), SIDE, "alignment", "kernel_"),
        (LSSVMClassifier(coding="one-vs-one"), np.arange(40) % 3, "fpe", "one-vs-one"),
    ],
)
def test_unsuitable_criterion_is_refused(model: Any, y: np.ndarray, criterion: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        selection_criterion(clone(model).fit(X, y), X, y, criterion)


@pytest.mark.parametrize("criterion", ["trimmed", "fpe"])
def test_other_than_the_training_samples_are_refused(criterion: str) -> None:
    model = clone(MACHINE).fit(X[:20], Y[:20])
    for rows in (slice(20, 40), slice(30)):
        with pytest.raises(ValueError, match="training samples"):
            selection_criterion(model, X[rows], Y[rows], criterion)
    with pytest.raises(ValueError, match="must be one of"):
        criterion_scorer("aic")
