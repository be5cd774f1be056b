"""Evidence, error bars and forgetting of the fixed-size LS-SVM: against the full machine and dense formulas."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone

from discriminants import (
    BayesianLSSVMRegressor,
    FixedSizeLSSVMClassifier,
    FixedSizeLSSVMRegressor,
    GaussianKernel,
    GreedyNystroem,
    estimator_from_arrays,
    estimator_to_arrays,
)

SIGMA = 1.3
BY_EVIDENCE: dict[str, Any] = {"sigma": SIGMA, "regularization": "evidence"}
NEW = np.array([[0.3, -0.2], [1.0, 1.0], [9.0, -9.0]])


def samples(n_samples: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Features and two smooth targets with noise."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n_samples, 2))
    targets = np.stack([np.sin(2 * X[:, 0]), X[:, 0] * X[:, 1] + 5.0], axis=1)
    return X, targets + 0.1 * random.normal(size=targets.shape)


def test_evidence_with_all_centers_equals_the_full_machine() -> None:
    X, targets = samples()
    model = FixedSizeLSSVMRegressor(centers=X, tol=1e-14, **BY_EVIDENCE).fit(X, targets)
    full = BayesianLSSVMRegressor(sigma=SIGMA, tune_width=False).fit(X, targets)
    for name in ("regularization_", "prior_variance_", "noise_variance_", "effective_parameters_", "log_evidence_"):
        np.testing.assert_allclose(getattr(model, name), getattr(full, name), rtol=1e-4, err_msg=name)
    for found, expected in zip(model.predict(NEW, return_std=True), full.predict(NEW, return_std=True), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4)


def features(X: np.ndarray, centers: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Features of samples and of new samples, whose products are those of the projected samples."""
    made = GreedyNystroem(len(centers), sigma=SIGMA, chooser=lambda *_: np.arange(len(centers))).fit(centers)
    return made.transform(X), made.transform(new)


def test_evidence_and_error_bars_are_those_of_the_dense_formulas() -> None:
    X, targets = samples()
    n, centers = len(X), X[:9]
    model = FixedSizeLSSVMRegressor(centers=centers, **BY_EVIDENCE).fit(X, targets)
    Z, new = features(X, centers, NEW)
    contrasts = np.linalg.svd(np.ones((1, n)))[2][1:]  # orthogonal to the constant: the bias has a flat prior

    def log_likelihood(output: int, prior: float, noise: float) -> float:
        covariance = prior * Z @ Z.T + noise * np.eye(n)
        contrast = multivariate_normal(cov=contrasts @ covariance @ contrasts.T).logpdf(contrasts @ targets[:, output])
        return float(contrast - 0.5 * np.log(n))

    _, deviations = model.predict(NEW, return_std=True, noise_variance=0.0)
    for output in range(2):
        prior, noise = model.prior_variance_[output], model.noise_variance_[output]
        best = log_likelihood(output, prior, noise)
        assert best > max(
            log_likelihood(output, prior * a, noise * b) for a, b in ((1.1, 1), (0.9, 1), (1, 1.1), (1, 0.9))
        )
        d = model.effective_parameters_[output]
        np.testing.assert_allclose(model.log_evidence_[output], best - 0.5 * np.log((d - 1) * (n - d)), atol=1e-6)
        B = np.hstack([Z, np.ones((n, 1))])
        precision = B.T @ B / noise + np.diag([1 / prior] * 9 + [0.0])
        at = np.hstack([new, np.ones((len(NEW), 1))])
        inside = np.einsum("ij,jk,ik->i", at, np.linalg.inv(precision), at)
        outside = prior * (GaussianKernel(SIGMA)(NEW, NEW).diagonal() - (new**2).sum(axis=1))
        np.testing.assert_allclose(deviations[:, output] ** 2, inside + outside, rtol=1e-6)


@pytest.mark.parametrize("streamed", [False, True])
def test_evidence_of_weights_and_streams_is_that_of_all_samples(streamed: bool) -> None:
    X, targets = samples()
    counts = np.arange(60) % 3 + 1
    repeated = X.repeat(counts, axis=0), targets.repeat(counts, axis=0)
    model = FixedSizeLSSVMRegressor(centers=X[:9], **BY_EVIDENCE)
    expected = clone(model).fit(*repeated)
    if streamed:
        for part in (slice(0, 7), slice(7, 50), slice(50, None)):
            model.partial_fit(repeated[0][part], repeated[1][part])
    else:
        model.fit(X, targets, sample_weight=counts)
    np.testing.assert_allclose(model.log_evidence_, expected.log_evidence_)
    for found, wanted in zip(model.predict(NEW, return_std=True), expected.predict(NEW, return_std=True), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_classifier_has_a_penalty_per_class_and_restores() -> None:
    X, targets = samples(200)
    y = np.digitize(targets[:, 0], [-0.5, 0.5])
    model = FixedSizeLSSVMClassifier(20, **BY_EVIDENCE, random_state=0).fit(X[:100], y[:100])
    assert model.regularization_.shape == model.effective_parameters_.shape == (3,)
    assert model.score(X[100:], y[100:]) > 0.8
    again = estimator_from_arrays(*estimator_to_arrays(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_error_bars_restore_and_need_the_evidence() -> None:
    X, targets = samples()
    model = FixedSizeLSSVMRegressor(9, **BY_EVIDENCE, random_state=0).fit(X, targets[:, 0])
    again = estimator_from_arrays(*estimator_to_arrays(model))
    np.testing.assert_array_equal(again.predict(NEW, return_std=True), model.predict(NEW, return_std=True))
    model.set_params(regularization="gcv").fit(X, targets[:, 0])
    with pytest.raises(ValueError, match="evidence"):
        model.predict(NEW, return_std=True)


@pytest.mark.parametrize("sizes", [[60], [2, 1, 28, 29]])
@pytest.mark.parametrize("kind", [FixedSizeLSSVMClassifier, FixedSizeLSSVMRegressor])
def test_forgetting_equals_decaying_weights(kind: Any, sizes: list[int]) -> None:
    X, targets = samples()
    classifies = kind is FixedSizeLSSVMClassifier
    y = (targets[:, 0] > 0).astype(int) if classifies else targets
    model = kind(sigma=SIGMA, centers=X[:9], regularization="gcv", forgetting=0.95)
    expected = clone(model).set_params(**({"posterior": "gaussian"} if classifies else {}))
    expected.fit(X, y, sample_weight=0.95 ** np.arange(59.0, -1.0, -1.0))
    for rows in np.split(np.arange(60), np.cumsum(sizes)[:-1]):
        model.partial_fit(X[rows], y[rows], *([[0, 1]] if classifies else []))
    assert model.regularization_ == expected.regularization_
    outputs = "predict_proba" if classifies else "predict"
    np.testing.assert_allclose(getattr(model, outputs)(NEW), getattr(expected, outputs)(NEW), atol=1e-8)
    again = estimator_from_arrays(*estimator_to_arrays(model))
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))


def test_forgetting_follows_a_changed_function() -> None:
    X, targets = samples(400)
    y = targets[:, 0] * np.where(np.arange(400) < 200, 1.0, -1.0)
    errors = []
    for forgetting in (1.0, 0.97):
        model = FixedSizeLSSVMRegressor(20, sigma=SIGMA, forgetting=forgetting, random_state=0)
        for rows in np.split(np.arange(400), 10):
            model.partial_fit(X[rows], y[rows])
        errors.append(np.mean((model.predict(X) + np.sin(2 * X[:, 0])) ** 2))
    assert errors[1] < 0.1 < errors[0]
