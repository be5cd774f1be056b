"""The three levels of inference against their definitions, one sample, one class and one width at a time."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone

from discriminants import (
    ARDGaussianKernel,
    ExponentialKernel,
    GaussianKernel,
    InverseMultiquadricKernel,
    Kernel,
    LaplacianKernel,
    LinearKernel,
    LSSVMRegressor,
    PolynomialKernel,
)
from discriminants.lssvm.evidence.inputs import selected_inputs
from discriminants.lssvm.evidence.penalty import kernel_gradient, most_probable
from discriminants.lssvm.evidence.posterior_variance import PosteriorVariance
from discriminants.lssvm.evidence.spectrum import KernelSpectrum
from discriminants.lssvm.evidence.widths import WidthEvidence

RANDOM = np.random.default_rng(0)
N = 50
X = RANDOM.normal(size=(N, 3))
Y = np.column_stack([np.sin(2 * X[:, 0]) + 5, X[:, 1] * X[:, 2]]) + 0.1 * RANDOM.normal(size=(N, 2))
WEIGHT = RANDOM.uniform(0.2, 3, size=N)
WEIGHT /= WEIGHT.mean()
NEW = RANDOM.normal(size=(20, 3))
KERNEL = GaussianKernel(1.5)
K = KERNEL(X, X)
M = np.eye(N) - 1 / N


def _likelihood(y: np.ndarray, prior_variance: float, noise: np.ndarray) -> float:
    """log p(y) with a flat prior of the bias, by dense matrices; noise is the variance of each sample."""
    H = prior_variance * K + np.diag(noise)
    inverse = np.linalg.inv(H)
    ones = inverse.sum()
    P = inverse - np.outer(inverse.sum(axis=0), inverse.sum(axis=0)) / ones
    determinants = np.linalg.slogdet(H)[1] + np.log(ones)
    return float(-0.5 * (y @ P @ y + determinants + (N - 1) * np.log(2 * np.pi)))


def _counted(y: np.ndarray, prior_variance: float, noise: float, v: np.ndarray) -> float:
    """The same of v equal samples in place of each, which need be no whole numbers."""
    more = (v.sum() - N) * np.log(2 * np.pi * noise) + np.log(v).sum()
    return float(_likelihood(y, prior_variance, noise / v) - 0.5 * more)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_the_variances_found_are_the_most_probable(weight: np.ndarray | None) -> None:
    v = np.ones(N) if weight is None else weight
    found = most_probable(KernelSpectrum(K.copy(), weight), Y)
    for s, y in enumerate(Y.T):
        s2, noise = found.prior_variance[s], found.noise_variance[s]
        assert found.log_likelihood[s] == pytest.approx(_counted(y, s2, noise, v), abs=1e-8)

        def cost(logarithms: np.ndarray, y: np.ndarray = y) -> float:
            return -_counted(y, *np.exp(logarithms), v)

        best = minimize(cost, np.log([s2, noise]) + 0.3, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-10})
        assert found.log_likelihood[s] >= -best.fun - 1e-8
        np.testing.assert_allclose(np.log([s2, noise]), best.x, atol=1e-4)


def test_weights_count_samples() -> None:
    counts = np.where(np.arange(N) < 4, 2, 1)
    rows = np.repeat(np.arange(N), counts)
    noisy = Y + 0.5 * np.random.default_rng(1).normal(size=Y.shape)
    weighted = most_probable(KernelSpectrum(K.copy(), counts.astype(float)), noisy)
    repeated = most_probable(KernelSpectrum(K[np.ix_(rows, rows)]), noisy[rows])
    for found, expected in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_prior_variance_alone_is_the_most_probable_where_the_noise_is_known() -> None:
    noise = 0.01 / WEIGHT
    found = most_probable(KernelSpectrum(K.copy(), 1 / noise), Y[:, :1], noise_known=True)
    value = _likelihood(Y[:, 0], found.prior_variance[0], noise)
    assert found.log_likelihood[0] == pytest.approx(value, abs=1e-8)
    assert value > max(_likelihood(Y[:, 0], found.prior_variance[0] * factor, noise) for factor in (0.99, 1.01))
    np.testing.assert_allclose(found.noise_variance, 1.0, rtol=1e-12)


def test_the_identities_of_level_two() -> None:
    """Suykens et al. 2002, 4.35 to 4.41, at the optimum and away from it."""
    spectrum = KernelSpectrum(K.copy())
    found = most_probable(spectrum, Y[:, :1])
    mu, zeta, d = 1 / found.prior_variance[0], 1 / found.noise_variance[0], found.effective_parameters[0]
    gamma = zeta / mu
    y, l = M @ Y[:, 0], spectrum.eigenvalues  # noqa: E741
    q = spectrum.rotated(Y[:, :1])[:, 0] ** 2
    machine = LSSVMRegressor(kernel=KERNEL, regularization=1 / gamma).fit(X, Y[:, 0])
    alpha = machine.dual_coef_[:, 0]
    e_w, e_d = 0.5 * alpha @ K @ alpha, 0.5 * np.sum((Y[:, 0] - machine.predict(X)) ** 2)
    assert e_w == pytest.approx(0.5 * np.sum(q * l / (l + 1 / gamma) ** 2), rel=1e-8)
    assert e_d == pytest.approx(np.sum(q / (l + 1 / gamma) ** 2) / (2 * gamma**2), rel=1e-8)
    assert 2 * mu * e_w == pytest.approx(d - 1, rel=1e-5)
    assert 2 * zeta * e_d == pytest.approx(N - d, rel=1e-5)
    assert gamma == pytest.approx((N - d) * e_w / ((d - 1) * e_d), rel=1e-5)
    smoother = np.stack([_output(unit, 1 / gamma) for unit in np.eye(N)], axis=1)
    assert d == pytest.approx(np.trace(smoother), rel=1e-8)

    def first(mu: float, zeta: float) -> float:
        energies = [0.5 * np.sum(q * f) for f in (l / (l + mu / zeta) ** 2, (mu / zeta / (l + mu / zeta)) ** 2)]
        logarithms = np.log(mu + zeta * l).sum() - (N - 1) * np.log(mu * zeta)
        return float(mu * energies[0] + zeta * energies[1] + 0.5 * logarithms)

    def second(mu: float, zeta: float) -> float:
        A = M @ K @ M / mu + np.eye(N) / zeta
        return float(0.5 * y @ np.linalg.solve(A, y) + 0.5 * np.linalg.slogdet(A)[1] + 0.5 * np.log(zeta))

    differences = [first(*pair) - second(*pair) for pair in ((mu, zeta), (1.0, 7.0), (30.0, 0.5))]
    np.testing.assert_allclose(differences, differences[0], atol=1e-8)


def _output(y: np.ndarray, regularization: float) -> np.ndarray:
    learner = LSSVMRegressor(kernel=KERNEL, regularization=regularization).fit(X, y)
    return np.asarray(learner.predict(X))


def test_the_evidence_has_the_sources_form() -> None:
    spectrum = KernelSpectrum(K.copy())
    found = most_probable(spectrum, Y[:, :1])
    mu, zeta, d = 1 / found.prior_variance[0], 1 / found.noise_variance[0], found.effective_parameters[0]
    printed = 0.5 * (
        (N - 1) * np.log(mu * zeta) - np.log((d - 1) * (N - d)) - np.log(mu + zeta * spectrum.eigenvalues).sum()
    )
    constant = -0.5 * ((N - 1) * (1 + np.log(2 * np.pi)) + np.log(N))
    assert found.log_evidence(N)[0] == pytest.approx(printed + constant, abs=1e-6)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_weights_and_left_out_samples_are_those_of_the_plain_machine(weight: np.ndarray | None) -> None:
    spectrum = KernelSpectrum(K.copy(), weight)
    penalties = np.array([0.01, 0.3])
    alpha = spectrum.weights(spectrum.rotated(Y), penalties)
    left_out = alpha / spectrum.inverse_diagonal(penalties)
    for s, penalty in enumerate(penalties):
        machine = LSSVMRegressor(kernel=KERNEL, regularization=penalty).fit(X, Y[:, s], weight)
        np.testing.assert_allclose(alpha[:, s], machine.dual_coef_[:, 0], atol=1e-8)
        np.testing.assert_allclose(left_out[:, s], machine.leave_one_out_residuals_, atol=1e-8)


KERNELS = [
    GaussianKernel(1.3),
    ARDGaussianKernel(1.3),
    ARDGaussianKernel(np.array([1.0, 2.0, 5.0])),
    ARDGaussianKernel(np.array([1.0, np.inf, 5.0])),
    LaplacianKernel(3.0),
    ExponentialKernel(2.0),
    InverseMultiquadricKernel(1.3),
]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("weight", "known"), [(None, False), (WEIGHT, False), (5 * WEIGHT, True)])
def test_the_derivatives_by_the_widths_are_those_of_small_steps(
    kernel: Kernel, weight: np.ndarray | None, known: bool
) -> None:
    evidence = WidthEvidence(X, Y, weight, noise_known=known)
    value, slopes = evidence.gradient(kernel)
    assert value == pytest.approx(evidence.log_likelihood(kernel), abs=1e-8)
    widths, step = np.atleast_1d(kernel.get_params()["sigma"]), 1e-4
    for i, unit in enumerate(np.eye(widths.shape[0])):
        sides = []
        for sign in (1, -1):
            moved = widths * np.exp(sign * step * unit)
            sides.append(clone(kernel).set_params(sigma=moved if np.ndim(kernel.get_params()["sigma"]) else moved[0]))
        steep = (evidence.log_likelihood(sides[0]) - evidence.log_likelihood(sides[1])) / (2 * step)
        assert slopes[i] == pytest.approx(steep, abs=1e-4 * max(1.0, abs(steep)))


def test_the_derivatives_by_the_kernel_values_are_those_of_their_definition() -> None:
    spectrum = KernelSpectrum(K.copy(), WEIGHT)
    found = most_probable(spectrum, Y)
    gradient = kernel_gradient(spectrum, spectrum.rotated(Y), found)
    naive = np.zeros((N, N))
    for s, y in enumerate(Y.T):
        inverse = np.linalg.inv(found.prior_variance[s] * K + np.diag(found.noise_variance[s] / WEIGHT))
        P = inverse - np.outer(inverse.sum(axis=0), inverse.sum(axis=0)) / inverse.sum()
        naive += 0.5 * found.prior_variance[s] * (np.outer(P @ y, P @ y) - P)
    np.testing.assert_allclose(gradient, naive, atol=1e-8 * np.abs(naive).max())


@pytest.mark.parametrize("kernel", [PolynomialKernel(2, 1.0, 0.1), GaussianKernel(np.ones(N)), LinearKernel()])
def test_kernels_without_a_width_say_so(kernel: Kernel) -> None:
    assert not kernel.has_width_gradient
    if not isinstance(kernel, GaussianKernel):
        with pytest.raises(NotImplementedError, match="no derivative"):
            kernel.width_gradient(X, K, K)


def test_tuned_widths_are_a_maximum_of_the_evidence() -> None:
    evidence = WidthEvidence(X, Y[:, 1:])
    tuned = evidence.tuned(ARDGaussianKernel(np.ones(3)))
    value, slopes = evidence.gradient(tuned)
    widths = np.asarray(tuned.get_params()["sigma"])
    assert np.abs(slopes[widths < 50]).max() < 0.1
    assert value > evidence.log_likelihood(evidence.tuned(GaussianKernel(1.0)))
    assert widths[0] > 5 * widths[1:].max()  # the product has no part of the first input


def test_inputs_that_say_nothing_go_one_by_one_and_those_that_matter_stay() -> None:
    random = np.random.default_rng(5)
    inputs = np.column_stack([X[:, 0], random.normal(size=N), 100 * X[:, 1], random.normal(size=N)])
    evidence = WidthEvidence(inputs, (np.sin(2 * X[:, 0]) + X[:, 1])[:, None] + 0.1 * random.normal(size=(N, 1)))
    around = np.asarray(ARDGaussianKernel().resolved(inputs).sigma)
    tuned = evidence.tuned(ARDGaussianKernel(around))
    found = selected_inputs(evidence, tuned, inputs.std(axis=0), around)
    assert sorted(found.removed) == [1, 3]
    np.testing.assert_array_equal(np.isfinite(found.kernel.sigma), [True, False, True, False])
    assert (np.diff(found.log_evidence) >= 0).all()
    assert found.log_evidence.shape == (3,)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_the_variance_of_an_output_is_that_of_the_bordered_system(weight: np.ndarray | None) -> None:
    v = np.ones(N) if weight is None else weight
    spectrum, s2, r = KernelSpectrum(K.copy(), weight), 0.7, 0.05
    variance = PosteriorVariance().fit(spectrum, spectrum.share[:, None], r)
    found = variance.variances(KERNEL, X, NEW, [(0, s2, r)])[:, 0] + s2 * r / v.sum()
    bordered = np.ones((N + 1, N + 1))
    bordered[:N, :N], bordered[N, N] = s2 * K + np.diag(s2 * r / v), 0.0
    kappa = np.column_stack([s2 * KERNEL(NEW, X), np.ones(NEW.shape[0])])
    naive = s2 - np.einsum("ij,ij->i", kappa, np.linalg.solve(bordered, kappa.T).T)
    np.testing.assert_allclose(found, naive, atol=1e-8)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_the_variance_about_a_mixture_of_samples_is_that_of_explicit_weights(weight: np.ndarray | None) -> None:
    """Suykens et al. 2002, 4.24, of a linear kernel, whose weights are there."""
    v, s2, r = (np.ones(N) if weight is None else weight), 2.0, 0.3
    spectrum = KernelSpectrum(X @ X.T, weight)
    references = RANDOM.dirichlet(np.ones(N), size=2).T
    variance = PosteriorVariance().fit(spectrum, references, r)
    found = variance.variances(LinearKernel(), X, NEW, [(0, s2, r), (1, s2, r)])
    centred = X - v @ X / v.sum()
    covariance = np.linalg.inv(np.eye(3) / s2 + (v[:, None] * centred).T @ centred / (s2 * r))
    for place in (0, 1):
        away = NEW - references[:, place] @ X
        np.testing.assert_allclose(found[:, place], np.einsum("ij,jk,ik->i", away, covariance, away), rtol=1e-8)
    blocks = variance.variances(LinearKernel(), X, np.tile(NEW, (60, 1)), [(0, s2, r)])
    np.testing.assert_allclose(blocks[-20:, 0], found[:, 0], rtol=1e-10)


def test_a_kernel_that_is_no_scalar_product_is_refused() -> None:
    with pytest.raises(ValueError, match="negative eigenvalues"):
        KernelSpectrum(-K)


@pytest.mark.parametrize("value", [0.0, 3.0, 1e140])
def test_constant_targets_have_no_variance(value: Any) -> None:
    found = most_probable(KernelSpectrum(K.copy()), np.full((N, 1), value))
    assert 0 < found.noise_variance[0] <= 1e-20 * max(1.0, value**2)
    assert np.isfinite(np.array(found)).all()
