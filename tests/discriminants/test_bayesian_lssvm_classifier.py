"""Bayesian least-squares classification: probabilities against their definitions, refitting, and what they promise."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_moons
from sklearn.svm import SVC

from discriminants import (
    BayesianLSSVMClassifier,
    BayesianLSSVMRegressor,
    GaussianKernel,
    LSSVMClassifier,
    PairwiseClassifier,
    log_loss,
)
from discriminants.lssvm.bayesian_lssvm import PosteriorParameters
from discriminants.lssvm.bayesian_lssvm_classifier import _left_out
from discriminants.lssvm.evidence.penalty import Inference, most_probable
from discriminants.lssvm.evidence.spectrum import KernelSpectrum

X, Y = make_moons(80, noise=0.35, random_state=0)
NEW, NEW_Y = make_moons(400, noise=0.35, random_state=1)
IRIS_X, IRIS_Y = load_iris(return_X_y=True)
POSTERIORS = ["leave_one_out", "moderated"]


def test_moderated_probabilities_are_those_of_the_source() -> None:
    """Suykens et al. 2002, 4.20 to 4.27: one class and one sample at a time, by the posterior of explicit weights."""
    model = BayesianLSSVMClassifier(kernel="linear", posterior="moderated").fit(X, Y)
    s2, noise = model.prior_variance_[0], model.noise_variance_[0]
    centred = X - X.mean(axis=0)
    covariance = np.linalg.inv(np.eye(2) / s2 + centred.T @ centred / noise)
    w = covariance @ centred.T @ np.where(Y == 1, 1.0, -1.0) / noise
    expected = []
    for x in NEW[:30]:
        likelihood = []
        for code in (0, 1):
            mean = X[code == Y].mean(axis=0)
            deviation = np.sqrt(noise + (x - mean) @ covariance @ (x - mean))
            likelihood.append(norm.pdf(w @ (x - mean), scale=deviation) * np.mean(code == Y))
        expected.append(likelihood[1] / sum(likelihood))
    np.testing.assert_allclose(model.predict_proba(NEW[:30])[:, 1], expected, atol=1e-8)


def test_samples_left_out_are_those_of_refitting() -> None:
    K = GaussianKernel(0.7)(X, X)
    targets = np.where(Y == 1, 1.0, -1.0)[:, None]
    spectrum = KernelSpectrum(K.copy())
    found = most_probable(spectrum, targets)
    alpha = spectrum.weights(spectrum.rotated(targets), found.regularization)
    outputs, variances = _left_out(PosteriorParameters(spectrum, found, alpha), targets)
    for i in (0, 17, 79):
        rest = np.delete(np.arange(80), i)
        s2, noise = found.prior_variance[0], found.noise_variance[0]
        bordered = np.ones((80, 80))
        bordered[:-1, :-1], bordered[-1, -1] = s2 * K[np.ix_(rest, rest)] + noise * np.eye(79), 0.0
        kappa = np.append(s2 * K[i, rest], 1.0)
        solved = np.linalg.solve(bordered, np.column_stack([np.append(targets[rest], 0.0), kappa]))
        assert outputs[i, 0] == pytest.approx(kappa @ solved[:, 0], abs=1e-8)
        assert variances[i, 0] == pytest.approx(s2 - kappa @ solved[:, 1], abs=1e-8)


def test_one_that_decides_everything_alone_has_no_error_but_its_own() -> None:
    """Where the evidence finds no noise, the variances are small and finite."""
    spectrum = KernelSpectrum(np.eye(4))
    targets = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    r = np.array([1e-12])
    found = Inference(r, np.ones(1), r, np.full(1, 4.0), np.zeros(1))
    alpha = spectrum.weights(spectrum.rotated(targets), r)
    outputs, variances = _left_out(PosteriorParameters(spectrum, found, alpha), targets)
    assert np.isfinite(outputs).all()
    np.testing.assert_allclose(variances, 4 / 3, rtol=1e-6)  # 1 of the sample, 1/3 of the mean of three


@pytest.mark.parametrize("posterior", POSTERIORS)
def test_other_priors_are_those_of_bayes_rule(posterior: str) -> None:
    for samples, labels in ((X, Y), (IRIS_X, IRIS_Y)):
        model = BayesianLSSVMClassifier(posterior=posterior).fit(samples[::2], labels[::2])
        proba = model.predict_proba(samples[1::2])
        shares = np.exp(model.class_log_prior_)
        np.testing.assert_allclose(model.predict_proba(samples[1::2], priors=shares), proba, atol=1e-12)
        priors = np.arange(1.0, shares.shape[0] + 1)
        expected = proba * priors / shares
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(samples[1::2], priors=priors), expected, atol=1e-12)
        winners = model.classes_[expected.argmax(axis=1)]
        np.testing.assert_array_equal(model.predict(samples[1::2], priors=priors), winners)
        for wrong in ([1.0], [0.5, -0.5], [0.5, np.nan], np.ones((2, 2))):
            with pytest.raises(ValueError, match="priors"):
                model.predict_proba(samples, priors=wrong)


def test_the_right_priors_help_where_the_classes_have_other_shares() -> None:
    model = BayesianLSSVMClassifier().fit(X, Y)
    kept = np.concatenate([np.flatnonzero(NEW_Y == 0), np.flatnonzero(NEW_Y == 1)[:20]])
    plain = log_loss(NEW_Y[kept], model.predict_proba(NEW[kept]))
    corrected = log_loss(NEW_Y[kept], model.predict_proba(NEW[kept], priors=[200, 20]))
    assert corrected < 0.8 * plain


def test_without_signal_the_probabilities_are_near_the_priors_and_keep_the_order_of_the_outputs() -> None:
    """The mean of the others lies on the other side of a sample's target: its output left out is against it."""
    samples, labels = np.random.default_rng(8).normal(size=(40, 20)), np.arange(40) % 2
    bayesian = BayesianLSSVMClassifier().fit(samples, labels)
    platt = LSSVMClassifier(regularization=1e3, calibrate_on="leave_one_out", posterior="platt").fit(samples, labels)
    for model in (bayesian, platt):
        assert (model.posterior_.slopes_ > 0).all()
        np.testing.assert_allclose(model.predict_proba(samples), 0.5, atol=0.01)
        assert model.score(samples, labels) > 0.8


@pytest.mark.parametrize("posterior", POSTERIORS)
def test_the_outputs_are_those_of_the_regression(posterior: str) -> None:
    model = BayesianLSSVMClassifier(posterior=posterior).fit(X, Y)
    regression = BayesianLSSVMRegressor().fit(X, 2.0 * Y - 1)
    np.testing.assert_allclose(model.dual_coef_, regression.dual_coef_, atol=1e-8)
    np.testing.assert_allclose(model.log_evidence_, regression.log_evidence_, atol=1e-8)
    left_out = 2.0 * Y - 1 - regression.leave_one_out_residuals_
    if posterior == "leave_one_out":
        np.testing.assert_allclose(model.class_means_[:, 0], [left_out[Y == 1].mean(), left_out[Y == 0].mean()])


@pytest.mark.parametrize("posterior", POSTERIORS)
def test_several_classes_are_told_apart(posterior: str) -> None:
    model = BayesianLSSVMClassifier(posterior=posterior).fit(IRIS_X[::2], IRIS_Y[::2])
    assert model.score(IRIS_X[1::2], IRIS_Y[1::2]) > 0.93
    proba = model.predict_proba(IRIS_X[1::2])
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert log_loss(IRIS_Y[1::2], proba) < 0.15
    pairs = PairwiseClassifier(BayesianLSSVMClassifier(posterior=posterior), "coupling").fit(IRIS_X[::2], IRIS_Y[::2])
    assert pairs.score(IRIS_X[1::2], IRIS_Y[1::2]) > 0.93


def test_probabilities_are_better_than_those_of_a_calibrated_support_vector_machine() -> None:
    model = BayesianLSSVMClassifier().fit(X, Y)
    machine = CalibratedClassifierCV(SVC(), cv=5).fit(X, Y)
    assert log_loss(NEW_Y, model.predict_proba(NEW)) < log_loss(NEW_Y, machine.predict_proba(NEW))


@pytest.mark.parametrize("posterior", POSTERIORS)
def test_far_from_all_samples_it_is_less_sure(posterior: str) -> None:
    model = BayesianLSSVMClassifier(posterior=posterior).fit(X, Y)
    away = np.array([[30.0, 30.0], [-30.0, 5.0]])
    assert model.predict_proba(away).max() < model.predict_proba(NEW).max() - 0.1


def test_inputs_of_noise_are_dropped() -> None:
    samples = np.hstack([X, np.random.default_rng(0).normal(size=(80, 2))])
    model = BayesianLSSVMClassifier(kernel="ard_gaussian", select_inputs=True).fit(samples, Y)
    assert sorted(model.removed_inputs_) == [2, 3]


def test_a_precomputed_kernel_is_refused() -> None:
    with pytest.raises(ValueError, match="precomputed"):
        BayesianLSSVMClassifier(kernel="precomputed").fit(X @ X.T, Y)
