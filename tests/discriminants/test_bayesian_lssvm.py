"""Bayesian least-squares regression against Gaussian processes, the plain machine, and what it promises."""

from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from threadpoolctl import threadpool_limits

from discriminants import (
    ARDGaussianKernel,
    BayesianLSSVMClassifier,
    BayesianLSSVMRegressor,
    CompactGaussianKernel,
    GaussianKernel,
    LSSVMRegressor,
)
from discriminants.lssvm.evidence import spectrum
from discriminants.util.blas_threads import blas_threads_allowed, one_blas_thread_for_few

RANDOM = np.random.default_rng(0)
N = 60
X = RANDOM.normal(size=(N, 3))
Y = np.column_stack([np.sin(2 * X[:, 0]) + 5, X[:, 1] * X[:, 2]]) + 0.1 * RANDOM.normal(size=(N, 2))
WEIGHT = RANDOM.uniform(0.2, 3, size=N)
NEW = RANDOM.normal(size=(25, 3))


def sinc(n_samples: int, random: np.random.Generator, noise: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    x = random.uniform(-10, 10, n_samples)
    return x[:, None], np.sinc(x / np.pi) + noise * random.normal(size=n_samples)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_it_is_a_gaussian_process_with_a_flat_prior_of_the_bias(weight: np.ndarray | None) -> None:
    model = BayesianLSSVMRegressor().fit(X, Y[:, 0], weight)
    s2, noise = model.prior_variance_[0], model.noise_variance_[0]
    kernel = ConstantKernel(s2) * RBF(model.sigma_) + ConstantKernel(1e4)
    alpha = noise / (np.ones(N) if weight is None else weight)
    process = GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None).fit(X, Y[:, 0])
    means, deviations = process.predict(NEW, return_std=True)
    found, uncertain = model.predict(NEW, return_std=True, noise_variance=0)
    np.testing.assert_allclose(found, means, atol=2e-4)
    np.testing.assert_allclose(uncertain, deviations, atol=2e-4)
    np.testing.assert_allclose(model.predict(NEW, return_std=True)[1], np.sqrt(uncertain**2 + noise), rtol=1e-8)


@pytest.mark.parametrize("kernel", ["gaussian", "ard_gaussian", "laplacian", "exponential"])
def test_the_machine_is_that_of_its_penalty_and_width(kernel: str) -> None:
    model = BayesianLSSVMRegressor(kernel=kernel).fit(X, Y, WEIGHT)
    for s in (0, 1):
        plain = LSSVMRegressor(kernel=model.kernel_, regularization=model.regularization_[s]).fit(X, Y[:, s], WEIGHT)
        np.testing.assert_allclose(model.predict(NEW)[:, s], plain.predict(NEW), atol=1e-5)
        np.testing.assert_allclose(model.leave_one_out_residuals_[:, s], plain.leave_one_out_residuals_, atol=1e-5)
    given = BayesianLSSVMRegressor(kernel=kernel, tune_width=False).fit(X, Y, WEIGHT)
    assert model.log_evidence_.sum() > given.log_evidence_.sum()
    np.testing.assert_allclose(model.regularization_, model.noise_variance_ / model.prior_variance_, rtol=1e-12)


def test_outputs_of_their_own_have_variances_of_their_own() -> None:
    together = BayesianLSSVMRegressor(tune_width=False, sigma=1.0).fit(X, Y)
    means, deviations = together.predict(NEW, return_std=True)
    assert means.shape == deviations.shape == (25, 2)
    for s in (0, 1):
        alone = BayesianLSSVMRegressor(tune_width=False, sigma=1.0).fit(X, Y[:, s])
        expected = alone.predict(NEW, return_std=True)
        np.testing.assert_allclose((means[:, s], deviations[:, s]), expected, atol=1e-10)
        np.testing.assert_allclose(alone.log_evidence_, together.log_evidence_[s], atol=1e-10)


def test_kernels_without_a_width_stay_as_they_are() -> None:
    for kernel in ("linear", "polynomial", CompactGaussianKernel(2.0)):
        model = BayesianLSSVMRegressor(kernel=kernel).fit(X, Y[:, 1])
        fixed = BayesianLSSVMRegressor(kernel=kernel, tune_width=False).fit(X, Y[:, 1])
        np.testing.assert_array_equal(model.predict(NEW), fixed.predict(NEW))


def test_a_precomputed_kernel_predicts_but_is_not_sure() -> None:
    kernel = GaussianKernel(1.5)
    by_number = BayesianLSSVMRegressor(kernel="precomputed")
    for weight in (None, np.where(np.arange(N) % 3 == 0, 0.0, WEIGHT)):
        by_kernel = BayesianLSSVMRegressor(kernel=kernel, tune_width=False).fit(X, Y, weight)
        by_number.fit(kernel(X, X), Y, weight)
        np.testing.assert_allclose(by_number.predict(kernel(NEW, X)), by_kernel.predict(NEW), atol=1e-8)
    with pytest.raises(ValueError, match="return_std"):
        by_number.predict(kernel(NEW, X), return_std=True)


def test_weights_say_how_much_noise_a_sample_has() -> None:
    settings: dict[str, Any] = {"tune_width": False, "sigma": 1.0}
    weighted = BayesianLSSVMRegressor(**settings).fit(X, Y[:, 0], WEIGHT)
    noise = weighted.noise_variance_ / WEIGHT
    known = BayesianLSSVMRegressor(**settings).fit(X, Y[:, 0], noise_variance=noise)
    np.testing.assert_allclose(known.prior_variance_, weighted.prior_variance_, rtol=1e-4)
    expected = weighted.predict(NEW, return_std=True, noise_variance=0.3)
    found = known.predict(NEW, return_std=True, noise_variance=np.full(25, 0.3))
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    curve = known.predict(NEW, return_std=True)[1]
    np.testing.assert_allclose(curve, known.predict(NEW, return_std=True, noise_variance=0)[1])
    absent = WEIGHT.copy()
    absent[::4] = 0
    kept = absent > 0
    part = BayesianLSSVMRegressor(**settings).fit(X, Y[:, 0], absent)
    alone = BayesianLSSVMRegressor(**settings).fit(X[kept], Y[kept, 0], absent[kept])
    np.testing.assert_array_equal(part.predict(NEW, return_std=True), alone.predict(NEW, return_std=True))
    np.testing.assert_allclose(part.leave_one_out_residuals_[::4], Y[::4, 0] - part.predict(X[::4]), atol=1e-10)


def test_noise_that_is_known_to_differ_serves_better_than_noise_that_is_taken_to_be_the_same() -> None:
    gains = []
    for seed in range(5):
        random = np.random.default_rng(seed)
        x, y = sinc(100, random, 0.0)
        variance = np.where(x[:, 0] > 0, 0.25, 1e-4)
        y += np.sqrt(variance) * random.normal(size=100)
        new, truth = sinc(300, random, 0.0)
        spread = np.where(new[:, 0] > 0, 0.25, 1e-4)
        target = truth + np.sqrt(spread) * random.normal(size=300)
        same = BayesianLSSVMRegressor().fit(x, y)
        known = BayesianLSSVMRegressor().fit(x, y, noise_variance=variance)
        gains.append(np.mean((same.predict(new) - truth) ** 2) / np.mean((known.predict(new) - truth) ** 2))
        densities = norm.logpdf(target, *known.predict(new, return_std=True, noise_variance=spread))
        assert densities.mean() > norm.logpdf(target, *same.predict(new, return_std=True)).mean() + 0.5
    assert np.mean(np.log(gains)) > 0.3


def test_error_bars_cover_what_they_say() -> None:
    covered = []
    for seed in range(15):
        random = np.random.default_rng(seed)
        X_train, y_train = sinc(100, random)
        X_test, y_test = sinc(300, random)
        means, deviations = BayesianLSSVMRegressor().fit(X_train, y_train).predict(X_test, return_std=True)
        covered.append(np.mean(np.abs(y_test - means) < 1.959964 * deviations))
    assert 0.93 < np.mean(covered) < 0.97


def test_error_bars_grow_away_from_the_samples() -> None:
    model = BayesianLSSVMRegressor().fit(*sinc(80, np.random.default_rng(0)))
    _, near = model.predict(np.array([[0.5]]), return_std=True)
    _, far = model.predict(np.array([[40.0]]), return_std=True)
    assert far > 2 * near
    assert near == pytest.approx(np.sqrt(model.noise_variance_[0]), rel=0.3)


@pytest.mark.parametrize("select_inputs", [True, "forward"])
def test_relevance_drops_inputs_of_noise(select_inputs: bool | str) -> None:
    for seed in range(3):
        random = np.random.default_rng(seed)
        x, y = sinc(120, random)
        inputs = np.hstack([x, random.normal(size=(120, 3)) * [1.0, 30.0, 0.01]])
        model = BayesianLSSVMRegressor(kernel="ard_gaussian", select_inputs=select_inputs).fit(inputs, y)
        assert sorted(model.removed_inputs_) == [1, 2, 3]
        np.testing.assert_array_equal(np.isfinite(model.sigma_), [True, False, False, False])
        all_inputs = BayesianLSSVMRegressor().fit(inputs, y)
        new, truth = sinc(200, random, 0.0)
        new = np.hstack([new, random.normal(size=(200, 3)) * [1.0, 30.0, 0.01]])
        errors = [np.mean((learner.predict(new) - truth) ** 2) for learner in (model, all_inputs)]
        assert errors[0] < 0.2 * errors[1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"select_inputs": True}, "ard_gaussian"),
        ({"select_inputs": True, "kernel": ARDGaussianKernel(1.0), "tune_width": False}, "tune_width = False"),
        ({"select_inputs": True, "kernel": "ard_gaussian", "tune_width": False}, "tune_width = False"),
        ({"kernel": "sigmoid"}, "negative eigenvalues"),
    ],
)
def test_what_cannot_be_inferred_is_told(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BayesianLSSVMRegressor(**parameters).fit(3 * X, Y)


def test_noise_that_is_none_is_refused() -> None:
    learner = BayesianLSSVMRegressor(tune_width=False)
    for noise in (np.zeros(N), -WEIGHT, np.full(N, np.nan), np.ones(N - 1), np.ones((N, 2)), np.full(N, 1e200)):
        with pytest.raises(ValueError, match="noise_variance"):
            learner.fit(X, Y, noise_variance=noise)
    with pytest.raises(ValueError, match="cannot be combined"):
        learner.fit(X, Y, WEIGHT, noise_variance=WEIGHT)
    learner.fit(X, Y)
    for noise in (-1.0, np.ones(3), np.nan):
        with pytest.raises(ValueError, match="noise_variance"):
            learner.predict(NEW, return_std=True, noise_variance=noise)


def test_single_precision_gives_the_same_in_single_precision() -> None:
    double = BayesianLSSVMRegressor(kernel="ard_gaussian").fit(X.astype(np.float32).astype(float), Y[:, 0])
    single = BayesianLSSVMRegressor(kernel="ard_gaussian").fit(X.astype(np.float32), Y[:, 0])
    for found, expected in zip(
        single.predict(NEW.astype(np.float32), return_std=True), double.predict(NEW, return_std=True), strict=True
    ):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_the_relevance_of_an_input_is_its_mean_part_of_the_exponent() -> None:
    model = BayesianLSSVMRegressor(kernel="ard_gaussian", select_inputs=True).fit(X, Y[:, 0])
    squares = (X[:, None] - X) ** 2 / (2.0 * np.asarray(model.sigma_) ** 2)
    np.testing.assert_allclose(model.input_relevances_, squares.mean(axis=(0, 1)), rtol=1e-10)
    assert (model.input_relevances_[model.removed_inputs_] == 0).all()
    with pytest.raises(AttributeError, match="input_relevances_"):
        BayesianLSSVMRegressor().fit(X, Y[:, 0]).input_relevances_  # noqa: B018


@pytest.mark.parametrize(("n_samples", "n_threads"), [(1000, 1), (1001, 2)])
def test_few_samples_are_decomposed_on_one_blas_thread(n_samples: int, n_threads: int) -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads_allowed()
        with one_blas_thread_for_few(n_samples):
            assert blas_threads_allowed() == min(before, n_threads)
        assert blas_threads_allowed() == before


def test_the_inference_keeps_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(spectrum, "eigh", lambda *a, **k: seen.append(blas_threads_allowed()) or eigh(*a, **k))
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    with threadpool_limits(2, user_api="blas"):
        BayesianLSSVMRegressor().fit(X, y)
        BayesianLSSVMClassifier().fit(X, y)
    assert set(seen) == {1}
