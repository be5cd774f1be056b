"""The Gaussian kernel with a width for every feature."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF

from discriminants import ARDGaussianKernel, GaussianKernel, OROLSClassifier
from discriminants.serialization.persistence import estimator_from_arrays, estimator_to_arrays
from tests.discriminants.bad_input.learners import CLASSIFIERS, KERNEL_LEARNERS

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(40, 3)) * [1.0, 5.0, 0.1] + [0.0, 30.0, -2.0]
WIDTHS = np.array([0.7, 4.0, 0.3])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_it_is_scikit_learns_anisotropic_kernel(dtype: type) -> None:
    K = ARDGaussianKernel(WIDTHS)(X.astype(dtype), X[:9].astype(dtype))
    assert K.dtype == dtype
    np.testing.assert_allclose(K, RBF(WIDTHS)(X, X[:9]), atol=1e-12 if dtype == np.float64 else 1e-5)


def test_a_feature_of_infinite_width_has_no_part() -> None:
    K = ARDGaussianKernel(np.array([0.7, np.inf, 0.3]))(X, X)
    np.testing.assert_array_equal(K, ARDGaussianKernel(np.array([0.7, 0.3]))(X[:, [0, 2]], X[:, [0, 2]]))
    huge = X.copy()
    huge[:, 1] = 1e308
    np.testing.assert_array_equal(ARDGaussianKernel(np.array([0.7, np.inf, 0.3]))(huge, X), K)


def test_the_scale_does_not_depend_on_units() -> None:
    standardized = (X - X.mean(axis=0)) / X.std(axis=0)
    expected = GaussianKernel().resolved(standardized)(standardized, standardized)
    np.testing.assert_allclose(ARDGaussianKernel().resolved(X)(X, X), expected, atol=1e-12)
    constant = np.insert(X, 1, 7.0, axis=1)
    np.testing.assert_allclose(ARDGaussianKernel().resolved(constant)(constant, constant), expected, atol=1e-12)


@pytest.mark.parametrize(
    "sigma", [np.full(3, np.inf), np.inf, [1.0, np.nan], [1.0, -np.inf], [1.0, 0.0], [[1.0]], ["1"], "auto"]
)
def test_widths_that_are_none_are_refused(sigma: Any) -> None:
    with pytest.raises(ValueError, match="sigma"):
        ARDGaussianKernel(sigma).resolved(X)


def test_a_wrong_number_of_widths_is_refused() -> None:
    for use in (ARDGaussianKernel(WIDTHS[:2]).resolved, ARDGaussianKernel(WIDTHS[:2]).columns):
        with pytest.raises(ValueError, match="2 widths for 3 features"):
            use(X)


@pytest.mark.parametrize("sigma", ["scale", np.array([1.0, np.inf, 0.1])])
def test_learners_take_it_by_name_and_as_an_object_and_come_back_from_a_file(sigma: Any) -> None:
    y = X[:, 0] > 0
    by_name = OROLSClassifier(10, kernel="ard_gaussian", sigma=sigma).fit(X, y)
    by_object = OROLSClassifier(10, kernel=ARDGaussianKernel(sigma)).fit(X, y)
    np.testing.assert_array_equal(by_name.decision_function(X), by_object.decision_function(X))
    for learner in (by_name, by_object):
        again = estimator_from_arrays(*estimator_to_arrays(learner))
        np.testing.assert_array_equal(again.predict_proba(X), learner.predict_proba(X))


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_every_learner_takes_it(name: str) -> None:
    random = np.random.default_rng(1)
    samples = random.normal(size=(80, 2)) * [1.0, 1000.0]
    y = samples[:, 0] > 0 if name in CLASSIFIERS else np.sin(samples[:, 0])
    learner = clone(KERNEL_LEARNERS[name]).set_params(kernel=ARDGaussianKernel(np.array([1.0, 1e5])))
    assert learner.fit(samples, y).score(samples, y) > 0.9
