"""Kernel canonical correlation, kernel principal components and series densities against their definitions."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.neighbors import KernelDensity

from discriminants import (
    ExponentialKernel,
    GaussianKernel,
    KernelCCA,
    LSSVMKernelPCA,
    LSSVMRegressor,
    ModelFormatError,
    SeriesDensity,
)
from discriminants.serialization.persistence import estimator_from_arrays, estimator_to_arrays

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 3))
Y = np.column_stack([X[:, 0] + 0.3 * RANDOM.normal(size=60), RANDOM.normal(size=60)])
NEW = RANDOM.normal(size=(20, 3))


def _centred(K: np.ndarray) -> np.ndarray:
    return K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()


def test_pairs_solve_the_eigenproblem_of_the_source() -> None:
    kernels = ExponentialKernel(1.5), ExponentialKernel(2.0)  # whose matrices are of full rank
    model = KernelCCA(4, kernel=kernels[0], y_kernel=kernels[1], regularization=0.05, y_regularization=0.2).fit(X, Y)
    K, L = _centred(kernels[0](X, X)), _centred(kernels[1](Y, Y))
    kappa, kappa_y = 0.05 * np.linalg.eigvalsh(K)[-1], 0.2 * np.linalg.eigvalsh(L)[-1]
    for p in range(4):
        alpha, beta = model.x_directions_.dual_coef_[:, p], model.y_directions_.dual_coef_[:, p]
        products = []
        for left, right in (  # Suykens et al. 2002, 7.71, up to the lengths of alpha and beta
            (L @ beta, K @ alpha / kappa + alpha),
            (K @ alpha, L @ beta / kappa_y + beta),
        ):
            ratio = left @ right / (right @ right)
            np.testing.assert_allclose(left, ratio * right, atol=1e-8 * np.abs(left).max())
            products.append(ratio)
        assert np.prod(products) == pytest.approx(model.singular_values_[p] ** 2 * kappa * kappa_y, rel=1e-8)


def test_with_linear_kernels_it_is_canonical_correlation_analysis() -> None:
    model = KernelCCA(5, kernel="linear", y_kernel="linear", regularization=1e-9).fit(X, Y)
    bases = [np.linalg.qr(view - view.mean(axis=0))[0] for view in (X, Y)]
    expected = np.linalg.svd(bases[0].T @ bases[1])[1]
    np.testing.assert_allclose(model.correlations_, expected, atol=1e-6)
    assert model.transform(X).shape == (60, 2)


def test_scores_are_centred_rows_times_the_weights_and_go_together() -> None:
    model = KernelCCA(3, sigma=1.5, y_sigma=2.0).fit(X, Y)
    K = GaussianKernel(1.5)(X, X)
    rows = GaussianKernel(1.5)(NEW, X)
    centred = rows - rows.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
    np.testing.assert_allclose(model.transform(NEW), centred @ model.x_directions_.dual_coef_, atol=1e-8)
    scores, others = model.transform(X, Y)
    np.testing.assert_allclose(scores.mean(axis=0), 0.0, atol=1e-8)
    np.testing.assert_allclose(scores.std(axis=0), 1.0, atol=1e-8)
    for p in range(3):
        assert model.correlations_[p] == pytest.approx(np.corrcoef(scores[:, p], others[:, p])[0, 1])
    assert (np.diff(model.singular_values_) <= 0).all()


def test_it_finds_on_other_samples_what_no_line_shows() -> None:
    angle = RANDOM.uniform(0, 2 * np.pi, 400)
    first = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * RANDOM.normal(size=(400, 2))
    second = np.column_stack([np.cos(2 * angle), RANDOM.normal(size=400)]) + 0.05 * RANDOM.normal(size=(400, 2))

    def held_out(model: Any) -> float:
        scores, others = model.fit(first[::2], second[::2]).transform(first[1::2], second[1::2])
        return abs(float(np.corrcoef(scores[:, 0], others[:, 0])[0, 1]))

    assert held_out(KernelCCA(1, sigma=1.0, y_sigma=1.0)) > 0.9
    assert held_out(KernelCCA(1, kernel="linear", y_kernel="linear")) < 0.3


def test_with_a_bias_it_is_scikit_learns_kernel_pca() -> None:
    reference = KernelPCA(4, kernel="rbf", gamma=0.5).fit(X)
    model = LSSVMKernelPCA(4, sigma=1.0).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, reference.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(np.abs(model.transform(NEW)), np.abs(reference.transform(NEW)), atol=1e-8)
    precomputed = LSSVMKernelPCA(4, kernel="precomputed").fit(GaussianKernel(1.0)(X, X))
    np.testing.assert_allclose(precomputed.transform(GaussianKernel(1.0)(NEW, X)), model.transform(NEW), atol=1e-10)


@pytest.mark.parametrize("bias", [True, False])
def test_scores_are_eigenvectors_of_the_kernel_matrix(bias: bool) -> None:
    model = LSSVMKernelPCA(3, sigma=1.0, bias=bias).fit(X)
    K = GaussianKernel(1.0)(X, X)
    matrix, scores = _centred(K) if bias else K, model.transform(X)
    np.testing.assert_allclose(matrix @ scores, scores * model.eigenvalues_, atol=1e-8)
    np.testing.assert_allclose(scores.T @ scores, np.diag(model.eigenvalues_), atol=1e-8)
    alpha = model.dual_coef_
    np.testing.assert_allclose(alpha.T @ K @ alpha, np.eye(3), atol=1e-8)  # length one; alpha sums to zero with a bias
    assert bool(model.intercept_.any()) == bias


def test_components_beyond_the_rank_are_left_out() -> None:
    assert LSSVMKernelPCA(9, kernel="linear").fit(X).transform(X).shape == (60, 3)


def test_samples_come_back_from_their_scores() -> None:
    angle = RANDOM.uniform(0, np.pi, 200)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    noisy = circle + 0.1 * RANDOM.normal(size=circle.shape)
    for bias, n_components in ((True, 1), (False, 2)):
        model = LSSVMKernelPCA(n_components, sigma=1.0, bias=bias, reconstruct=True).fit(noisy)
        again = model.inverse_transform(model.transform(noisy))
        assert np.linalg.norm(again - noisy, axis=1).mean() < 0.15
        if n_components == 1:  # one number per sample: everything outside the arc is removed
            before, after = (np.abs(np.linalg.norm(points, axis=1) - 1.0).mean() for points in (noisy, again))
            assert after < 0.7 * before
    own = LSSVMKernelPCA(2, sigma=1.0, reconstruct=LSSVMRegressor(regularization=0.1)).fit(noisy)
    expected = LSSVMRegressor(regularization=0.1).fit(own.transform(noisy), noisy)
    np.testing.assert_array_equal(own.inverse_transform(own.transform(circle)), expected.predict(own.transform(circle)))
    with pytest.raises(ValueError, match="reconstruct"):
        LSSVMKernelPCA().fit(X).inverse_transform(X[:, :2])
    with pytest.raises(ValueError, match="precomputed"):
        LSSVMKernelPCA(kernel="precomputed", reconstruct=True).fit(X @ X.T)


def test_all_eigenvectors_are_the_parzen_estimate() -> None:
    model = SeriesDensity(sigma=0.7, n_components=None).fit(X)
    parzen = KernelDensity(bandwidth=0.7).fit(X)
    np.testing.assert_allclose(model.score_samples(NEW), parzen.score_samples(NEW), atol=1e-8)
    np.testing.assert_allclose(model.density(NEW), np.exp(parzen.score_samples(NEW)), atol=1e-12)
    assert model.score(NEW) == pytest.approx(parzen.score_samples(NEW).mean())
    # log of the mean of the Gaussians: the sum of the shares (7.56)
    K = GaussianKernel(0.7)(X, X) * (2 * np.pi * 0.49) ** -1.5
    assert model.entropy_ == pytest.approx(-np.log(K.mean()), rel=1e-8)
    assert model.shares_.sum() == pytest.approx(K.mean(), rel=1e-8)


def test_the_series_is_that_of_its_eigenvectors() -> None:
    values, vectors = np.linalg.eigh(GaussianKernel(0.7)(X, X))
    sums = vectors.sum(axis=0)
    for n_components in (3, "cutoff"):
        model = SeriesDensity(sigma=0.7, n_components=n_components).fit(X)
        if n_components == "cutoff":
            kept = np.flatnonzero(sums**2 > 2 * 60 / 61)
        else:
            kept = np.argsort(-values * sums**2)[:3]
        U = vectors[:, kept]
        expected = U @ U.T @ GaussianKernel(0.7)(X, NEW)
        expected = expected.mean(axis=0) * (2 * np.pi * 0.49) ** -1.5
        np.testing.assert_allclose(model.density(NEW), expected, atol=1e-12)
        assert model.n_components_ == kept.shape[0] < 60


def test_the_density_of_a_normal_variable() -> None:
    samples, grid = np.random.default_rng(1).normal(size=(500, 1)), np.linspace(-2, 2, 50)[:, None]
    model = SeriesDensity().fit(samples)
    truth = np.exp(-(grid[:, 0] ** 2) / 2) / np.sqrt(2 * np.pi)
    assert np.abs(model.density(grid) - truth).max() < 0.08
    assert model.n_components_ < 20
    wide = np.linspace(-8, 8, 2000)
    assert np.trapezoid(model.density(wide[:, None]), wide) == pytest.approx(1.0, abs=0.05)
    assert model.entropy_ == pytest.approx(np.log(2 * np.sqrt(np.pi)), abs=0.15)
    with pytest.raises(ValueError, match="constant"):
        SeriesDensity().fit(np.ones((5, 2)))


@pytest.mark.parametrize(
    "model",
    [KernelCCA(), KernelCCA(y_kernel="linear"), LSSVMKernelPCA(reconstruct=True), LSSVMKernelPCA(), SeriesDensity()],
)
def test_coefficients_that_do_not_fit_are_refused(model: Any) -> None:
    arrays, metadata = estimator_to_arrays(clone(model).fit(X, Y))
    for name in arrays:
        if "dual_coef_" in name:
            with pytest.raises(ModelFormatError):
                estimator_from_arrays({**arrays, name: arrays[name][:-1]}, metadata)


def test_views_that_do_not_fit_are_refused() -> None:
    model = KernelCCA()
    for views, message in (
        ((X, Y[:50]), "inconsistent numbers"),
        ((X, np.where(Y > 2, np.nan, Y)), "NaN"),
        ((X, np.ones(60)), "constant"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(*views)
    with pytest.raises(ValueError, match="features"):
        model.fit(X, Y).transform(X, Y[:, :1])
    for parameters in ({"regularization": 0.0}, {"y_regularization": -1.0}, {"n_components": 0}):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            KernelCCA(**parameters).fit(X, Y)
