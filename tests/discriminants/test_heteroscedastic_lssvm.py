"""Noise that is learnt: the rounds against plain transcriptions, and error bars that follow it."""

import numpy as np
import pytest

from discriminants import BayesianLSSVMRegressor, HeteroscedasticLSSVMRegressor, ModelFormatError
from discriminants.lssvm.evidence.spectrum import KernelSpectrum
from discriminants.serialization.persistence import estimator_from_arrays, estimator_to_arrays


def deviation(x: np.ndarray) -> np.ndarray:
    return 0.03 + 0.3 / (1.0 + np.exp(-1.5 * x))


def noisy_sinc(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    x = random.uniform(-5, 5, n)
    return x[:, None], np.sinc(x / np.pi) + deviation(x) * random.normal(size=n)


X, Y = noisy_sinc(120, 0)
NEW = np.linspace(-6, 6, 40)[:, None]


def test_one_round_is_a_machine_of_the_logarithms_and_then_a_weighted_one() -> None:
    model = HeteroscedasticLSSVMRegressor(tune_width=False, sigma=1.0, noise_sigma=2.0, max_rounds=1).fit(X, Y)
    first = BayesianLSSVMRegressor(tune_width=False, sigma=1.0).fit(X, Y)
    K = np.exp(-0.5 * (X - X.T) ** 2)
    bordered = np.block([[K + first.regularization_ * np.eye(120), np.ones((120, 1))], [np.ones((1, 120)), 0.0]])
    inverse = np.linalg.inv(bordered)
    shares = 1.0 - first.regularization_ * np.diag(inverse)[:120]
    errors = (inverse @ np.append(Y, 0.0))[:120] / np.diag(inverse)[:120]  # from the machine of all other samples
    squares = errors**2 * (1.0 - shares)
    logarithms = np.log(np.maximum(squares / squares.mean(), 1e-6)) + np.log(2.0) + np.euler_gamma
    noise = BayesianLSSVMRegressor(sigma=2.0).fit(X, logarithms, noise_variance=np.full(120, np.pi**2 / 2))
    weight = np.exp(-noise.predict(X))
    second = BayesianLSSVMRegressor(tune_width=False, sigma=1.0).fit(X, Y, weight / weight.mean())
    np.testing.assert_allclose(model.predict(NEW), second.predict(NEW), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.noise_variance(X) * weight / weight.mean(), second.noise_variance_[0], rtol=1e-6)


def test_error_bars_are_those_of_the_bordered_system_and_the_noise() -> None:
    """(4.69) by the bordered identity, with the variance of every sample."""
    model = HeteroscedasticLSSVMRegressor().fit(X, Y)
    machine = model.regressor_
    s2, width = machine.prior_variance_[0], machine.sigma_
    K = s2 * np.exp(-0.5 * (X - X.T) ** 2 / width**2)
    bordered = np.block([[K + np.diag(model.noise_variance(X)), np.ones((120, 1))], [np.ones((1, 120)), 0.0]])
    k = np.vstack([s2 * np.exp(-0.5 * (X - NEW.T) ** 2 / width**2), np.ones((1, 40))])
    expected = s2 - np.einsum("ij,ij->j", k, np.linalg.solve(bordered, k)) + model.noise_variance(NEW)
    means, deviations = model.predict(NEW, return_std=True)
    np.testing.assert_allclose(deviations**2, expected, rtol=1e-6)
    np.testing.assert_allclose(means, k.T @ np.linalg.solve(bordered, np.append(Y, 0.0)), atol=1e-8)


def test_error_bars_cover_where_there_is_much_noise_and_where_there_is_little() -> None:
    covered: list[list[float]] = []
    for seed in range(3):
        new, targets = noisy_sinc(1000, 100 + seed)
        quiet = new[:, 0] < 0
        row = []
        for model in (HeteroscedasticLSSVMRegressor(), BayesianLSSVMRegressor()):
            means, deviations = model.fit(*noisy_sinc(150, seed)).predict(new, return_std=True)
            inside = np.abs(targets - means) < 1.96 * deviations
            row += [inside[quiet].mean(), inside[~quiet].mean()]
        covered.append(row)
    quiet, loud, quiet_alike, loud_alike = np.mean(covered, axis=0)
    assert 0.88 < quiet < 0.99 and 0.88 < loud < 0.99
    assert quiet_alike > 0.99 and loud_alike < 0.88  # one variance for all


def test_noise_is_found_and_goes_no_further_than_the_samples_tell() -> None:
    model = HeteroscedasticLSSVMRegressor().fit(X, Y)
    truth = 2.0 * np.log(deviation(NEW[5:-5, 0]))
    assert np.corrcoef(np.log(model.noise_variance(NEW[5:-5])), truth)[0, 1] > 0.9
    far = model.noise_variance(np.array([[-1e3], [1e3]]))
    among = model.noise_variance(X)
    assert among.min() <= far.min() and far.max() <= among.max()


def test_of_equal_noise_the_bars_are_those_of_one_variance() -> None:
    random = np.random.default_rng(1)
    y = np.sinc(X[:, 0] / np.pi) + 0.1 * random.normal(size=120)
    model, alike = HeteroscedasticLSSVMRegressor().fit(X, y), BayesianLSSVMRegressor().fit(X, y)
    ratio = model.predict(NEW, return_std=True)[1] / alike.predict(NEW, return_std=True)[1]
    assert ratio.min() > 0.6 and ratio.max() < 1.6


def test_targets_without_errors_leave_one_variance() -> None:
    model = HeteroscedasticLSSVMRegressor().fit(X, np.zeros(120))
    assert model.n_rounds_ == 0 and model.noise_regressor_ is None
    np.testing.assert_array_equal(model.predict(NEW), 0.0)
    assert (model.noise_variance(NEW) == model.noise_factor_).all()


def test_a_precomputed_kernel_is_refused() -> None:
    for name in ("kernel", "noise_kernel"):
        with pytest.raises(ValueError, match="precomputed"):
            HeteroscedasticLSSVMRegressor(**{name: "precomputed"}).fit(np.eye(9), np.arange(9.0))


def test_attributes_that_cannot_be_learned_are_refused() -> None:
    for name, value in (("noise_factor_", -1.0), ("noise_regressor_", 3.0), ("noise_range_", np.zeros(3))):
        changed = HeteroscedasticLSSVMRegressor().fit(X, Y)
        setattr(changed, name, value)
        with pytest.raises(ModelFormatError, match=name):
            estimator_from_arrays(*estimator_to_arrays(changed))


def test_many_samples_take_three_decompositions_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    decompose = KernelSpectrum.__init__

    def counted(self: KernelSpectrum, K: np.ndarray, weight: np.ndarray | None = None) -> None:
        sizes.append(K.shape[0])
        decompose(self, K, weight)

    monkeypatch.setattr(KernelSpectrum, "__init__", counted)
    samples = noisy_sinc(400, 1)
    model = HeteroscedasticLSSVMRegressor(max_samples=100).fit(*samples)
    assert sizes.count(400) == 3
    whole = HeteroscedasticLSSVMRegressor(max_samples=None, max_rounds=2).fit(*samples)
    noise = np.log(model.noise_variance(NEW[5:-5])), np.log(whole.noise_variance(NEW[5:-5]))
    assert np.abs(noise[0] - noise[1]).max() < 0.7
    np.testing.assert_allclose(model.predict(NEW[5:-5]), whole.predict(NEW[5:-5]), atol=0.1)
