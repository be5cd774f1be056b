"""Sums, products and multiples of kernels, normalization, factors, and kernels of distances."""

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import discriminants
from discriminants import KernelCCA, KFDClassifier, LSSVMClassifier, estimator_from_arrays, estimator_to_arrays
from discriminants.kernels import (
    ARDGaussianKernel,
    ConformalKernel,
    DistanceKernel,
    ExponentialKernel,
    GaussianKernel,
    Kernel,
    LinearKernel,
    MultiscaleGaussianKernel,
    NormalizedKernel,
    PolynomialKernel,
    PrecomputedKernel,
    ProductKernel,
    ScaledKernel,
    SigmoidKernel,
    SumKernel,
)

CENTERS = np.array([[0.0, 1.0, 0.5], [1.0, 0.0, -1.0]])
UNRESOLVED: dict[str, Kernel] = {
    "sum": GaussianKernel() + 0.1 * PolynomialKernel(2),
    "product": ExponentialKernel() * (LinearKernel() + GaussianKernel()),
    "normalized": NormalizedKernel(PolynomialKernel(2)),
    "distance": DistanceKernel(PolynomialKernel(2)),
    "conformal": ConformalKernel(GaussianKernel(), CENTERS),
}


def samples(n: int = 40, dtype: type = np.float64, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 3)).astype(dtype)


def test_operators_make_kernels() -> None:
    one, other = GaussianKernel(1.0), LinearKernel()
    assert isinstance(one + other, SumKernel)
    assert isinstance(one * other, ProductKernel)
    for scaled in (2 * one, one * 2.0, np.float64(2) * one, one * np.float32(2)):
        assert isinstance(scaled, ScaledKernel)
        assert scaled.factor == 2.0


@pytest.mark.parametrize("other", [3, None, "gaussian", np.ones(2)])
def test_operators_refuse_other_types(other: object) -> None:
    with pytest.raises(TypeError):
        GaussianKernel(1.0) + other
    if not isinstance(other, int):
        with pytest.raises(TypeError):
            other * GaussianKernel(1.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: -1.0 * GaussianKernel(1.0),
        lambda: 0 * GaussianKernel(1.0),
        lambda: SumKernel(GaussianKernel(1.0), "linear"),  # type: ignore[arg-type]
        lambda: NormalizedKernel(PrecomputedKernel()),
        lambda: GaussianKernel(1.0) * PrecomputedKernel(),
        lambda: DistanceKernel(LinearKernel(), -1.0),
        lambda: DistanceKernel(LinearKernel(), np.ones(2)),  # type: ignore[arg-type]
        lambda: ConformalKernel(LinearKernel(), np.ones(2)),
        lambda: ConformalKernel(LinearKernel(), np.full((2, 2), np.nan)),
        lambda: ConformalKernel(LinearKernel(), CENTERS, 0.0),
    ],
)
def test_invalid_parts_and_parameters_are_refused(make: Callable[[], Kernel]) -> None:
    with pytest.raises(ValueError, match="must be"):
        make()


@pytest.mark.parametrize("name", UNRESOLVED)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_resolved_kernel_has_finite_values_that_blocks_repeat(name: str, dtype: type) -> None:
    X = samples(dtype=dtype)
    kernel = clone(UNRESOLVED[name]).resolved(X)
    K = kernel(X, X[:9])
    assert K.dtype == dtype
    assert np.isfinite(K).all()
    tolerance = 1e-12 if dtype == np.float64 else 1e-5 * np.abs(K).max()
    blocks = kernel.columns(X[:9], dtype).blocks(X, 7)
    np.testing.assert_allclose(np.vstack([block.copy() for _, block in blocks]), K, rtol=0, atol=tolerance)
    np.testing.assert_allclose(kernel(X, X).diagonal(), kernel.diagonal(X), rtol=0, atol=10 * tolerance)
    np.testing.assert_allclose(kernel(X, X), kernel(X, X).T, rtol=0, atol=10 * tolerance)
    assert np.linalg.eigvalsh(kernel(X, X).astype(np.float64)).min() > -1e-4


@pytest.mark.parametrize("name", UNRESOLVED)
def test_unresolved_kernel_is_refused_in_use(name: str) -> None:
    with pytest.raises(ValueError, match="resolved"):
        UNRESOLVED[name].columns(samples())


@pytest.mark.parametrize("name", UNRESOLVED)
def test_weights_count_as_repetitions(name: str) -> None:
    X, counts = samples(12), np.arange(12)
    weighted = UNRESOLVED[name].resolved(X, counts.astype(np.float64))
    repeated = UNRESOLVED[name].resolved(X.repeat(counts, axis=0))
    np.testing.assert_allclose(weighted(X, X), repeated(X, X), rtol=1e-9)


def test_conformal_kernel_equals_its_formula() -> None:
    X, tau = samples(), 1.3
    kernel = ConformalKernel(GaussianKernel(0.7), CENTERS, tau / np.sqrt(2))
    factor = np.array([sum(np.exp(-((x - center) ** 2).sum() / tau**2) for center in CENTERS) for x in X])
    np.testing.assert_allclose(kernel(X, X), factor[:, None] * GaussianKernel(0.7)(X, X) * factor, rtol=1e-10)
    with pytest.raises(ValueError, match="3 features"):
        kernel(X[:, :2], X[:, :2])


def test_distance_kernel_of_the_linear_kernel_is_gaussian() -> None:
    X = samples(dtype=np.float32) + np.float32(100)
    np.testing.assert_allclose(DistanceKernel(LinearKernel(), 1.5)(X, X), GaussianKernel(1.5)(X, X), atol=1e-6)
    assert DistanceKernel(LinearKernel()).resolved(X).sigma == pytest.approx(GaussianKernel().resolved(X).sigma)
    assert DistanceKernel(LinearKernel()).resolved(np.ones((5, 3))).sigma == 1.0


def test_normalized_kernel_of_zero_is_zero() -> None:
    X = np.vstack([np.zeros(3), samples(4)])
    kernel = NormalizedKernel(LinearKernel())
    np.testing.assert_array_equal(kernel(X, X)[0], np.zeros(5))
    np.testing.assert_array_equal(kernel.diagonal(X), [0, 1, 1, 1, 1])
    with pytest.raises(ValueError, match="at least 0"):
        NormalizedKernel(SigmoidKernel(1.0, -50.0))(X, X)


def test_width_of_each_sample_is_kept_in_parts() -> None:
    X, widths = samples(6), np.linspace(0.5, 2.0, 6)
    kernel = (GaussianKernel(widths) + 0.1 * LinearKernel()).resolved(X)
    expected = GaussianKernel(widths)(X, X) + 0.1 * X @ X.T
    assert not kernel.centers_are_points
    np.testing.assert_allclose(kernel.at(np.array([4, 1]))(X, X[[4, 1]]), expected[:, [4, 1]])
    with pytest.raises(ValueError, match="6 widths for 5"):
        kernel(X, X[:5])


def test_candidates_of_one_part_are_those_of_the_kernel() -> None:
    X, widths = samples(6), [0.5, 1.0, 2.0]
    multiscale = MultiscaleGaussianKernel(widths)
    for kernel in (LinearKernel() + multiscale, multiscale + LinearKernel()):
        candidates, numbers = kernel.over(X)
        expected = multiscale(X, X) + (X @ X.T).repeat(3, axis=1)
        np.testing.assert_array_equal(numbers, np.arange(6).repeat(3))
        np.testing.assert_allclose(candidates(X, X[numbers]), expected)
        np.testing.assert_allclose(kernel(X, X), expected)
    with pytest.raises(ValueError, match="several parts"):
        (multiscale * multiscale).over(X)


LEARNERS = [
    kind
    for kind in (getattr(discriminants, name) for name in discriminants.__all__)
    if hasattr(kind, "fit") and "kernel" in signature(kind).parameters
]


@pytest.mark.parametrize("kind", LEARNERS, ids=lambda kind: kind.__name__)
def test_every_learner_fits_saves_and_loads_combined_kernels(kind: Any) -> None:
    X = samples(60)
    y = X[:, :2] if kind is KernelCCA else (X[:, 0] > 0).astype(float)
    seed = {"random_state": 0} if "random_state" in signature(kind).parameters else {}
    kernel = NormalizedKernel(PolynomialKernel(2)) + 0.5 * GaussianKernel()
    fitted = kind(kernel=kernel, **seed).fit(X, y)
    assert not isinstance(kernel.right.kernel.sigma, float)
    restored = estimator_from_arrays(*estimator_to_arrays(fitted))
    apply = "predict" if hasattr(fitted, "predict") else "transform"
    np.testing.assert_array_equal(getattr(restored, apply)(X), getattr(fitted, apply)(X))
    if apply == "predict":
        assert np.mean((fitted.predict(X) > 0.5) == y) > 0.85


@pytest.mark.parametrize("name", UNRESOLVED)
def test_machine_fits_saves_and_loads_every_combination(name: str) -> None:
    X = samples(60, np.float32)
    fitted = LSSVMClassifier(kernel=UNRESOLVED[name]).fit(X, X[:, 0] > 0)
    restored = estimator_from_arrays(*estimator_to_arrays(fitted))
    np.testing.assert_array_equal(restored.decision_function(X), fitted.decision_function(X))
    assert fitted.score(X, X[:, 0] > 0) > 0.85


def test_search_tunes_nested_parameters() -> None:
    X = samples(60)
    kernel = GaussianKernel(1.0) + 0.5 * PolynomialKernel(1, gamma=1.0)
    grid = {
        "kernel__left__sigma": [0.5, 2.0],
        "kernel__right__factor": [0.1, 1.0],
        "kernel__right__kernel__degree": [2],
    }
    search = GridSearchCV(LSSVMClassifier(kernel=kernel, regularization=1.0), grid, cv=2).fit(X, X[:, 0] > 0)
    found = search.best_estimator_.kernel_
    assert (found.left.sigma, found.right.factor, found.right.kernel.degree) == tuple(search.best_params_.values())
    with pytest.raises(ValueError, match="factor"):
        clone(search.estimator).set_params(kernel__right__factor=-1.0).fit(X, X[:, 0] > 0)


def test_prediction_follows_a_changed_nested_parameter() -> None:
    X = samples(30)
    model = KFDClassifier(kernel=1.0 * GaussianKernel(1.0)).fit(X, X[:, 0] > 0)
    before = model.decision_function(X)
    model.kernel_.kernel.sigma = 0.1
    assert not np.allclose(model.decision_function(X), before)


def test_kernel_of_groups_of_features_is_a_product() -> None:
    X, out = samples(), np.inf
    product = ARDGaussianKernel([1.0, out, out]) * ARDGaussianKernel([out, 2.0, 3.0])
    np.testing.assert_allclose(product(X, X), ARDGaussianKernel([1.0, 2.0, 3.0])(X, X))
