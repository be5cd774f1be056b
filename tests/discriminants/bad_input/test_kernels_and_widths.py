"""Whatever is wrong with a kernel or its width, every learner says so in words, or does what its docs promise."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel

from discriminants.kernels import GaussianKernel, PolynomialKernel
from tests.discriminants.bad_input.learners import (
    CLASSIFIERS,
    KERNEL_LEARNERS,
    LEARNERS,
    SELECTING,
    Data,
    check_sound,
    fitted,
    refuses,
    targets,
)

pytestmark = pytest.mark.slow

WIDTHS = [0, -1.0, np.nan, np.inf, "auto", None, True, 1e-310, np.zeros(45), np.full(45, np.nan), np.ones((45, 1))]


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_a_width_that_is_not_positive_and_finite_is_refused(name: str, data: Data) -> None:
    for sigma in WIDTHS:
        refuses(name, data[0], targets(name, data), "sigma", sigma=sigma)
        if sigma is None or isinstance(sigma, str | bool):
            continue
        with pytest.raises(ValueError, match="sigma"):
            GaussianKernel(sigma)


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_a_wrong_number_of_widths_is_refused(name: str, data: Data) -> None:
    refuses(name, data[0], targets(name, data), "44 widths for 45 samples", sigma=np.ones(44))


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
@pytest.mark.parametrize("sigma", [1e-200, 1e-3])
def test_a_tiny_width_gives_spikes_on_the_training_samples(name: str, sigma: float, data: Data) -> None:
    X, y = data[0], targets(name, data)
    more = {"n_centers": 44} if "n_centers" in LEARNERS[name].get_params() and "logistic" not in name else {}
    learner = fitted(name, X, y, sigma=sigma, **more)
    check_sound(learner, X)
    outside = X + 0.5
    if name in CLASSIFIERS:
        assert np.unique(learner.predict(outside)).shape == (1,)
    else:
        np.testing.assert_allclose(learner.predict(outside), learner.intercept_[0], atol=1e-9)


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_an_unknown_kernel_is_refused(name: str, data: Data) -> None:
    for kernel in ("rbf", "", 3, None, np.eye(45)):
        refuses(name, data[0], targets(name, data), "kernel", kernel=kernel)


FUNCTIONS: list[tuple[Callable[[np.ndarray, np.ndarray], Any], str]] = [
    (lambda A, B: np.full((len(A), len(B)), np.nan), "not finite"),
    (lambda A, B: np.full((len(A), len(B)), np.inf), "not finite"),
    (lambda A, B: np.ones(3), "shape"),
    (lambda A, B: np.ones((len(B) + 1, len(A))), "shape"),
    (lambda A, B: 1.0, "shape"),
    (lambda A, B: None, "shape"),
]


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_a_function_that_returns_no_kernel_matrix_is_refused(name: str, data: Data) -> None:
    for kernel, message in FUNCTIONS:
        refuses(name, data[0], targets(name, data), message, kernel=kernel)


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_a_kernel_that_is_constant_is_refused_or_gives_the_mean_or_the_priors(name: str, data: Data) -> None:
    X, y = data[0], targets(name, data)

    def constant(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.ones((len(A), len(B)))

    if name.startswith(("KRLS", "logistic")):
        learner = fitted(name, X, y, kernel=constant)
        check_sound(learner, X)
        assert np.unique(learner.predict(X)).shape == (1,)
    else:
        refuses(name, X, y, "constant", kernel=constant)


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_a_precomputed_matrix_that_does_not_fit_is_refused(name: str, data: Data) -> None:
    X, y = data[0], targets(name, data)
    K = rbf_kernel(X)
    refuses(name, K[:, :40], y, "square", kernel="precomputed")
    refuses(name, np.where(K < 0.5, np.nan, K), y, "NaN", kernel="precomputed")
    learner = fitted(name, K, y, kernel="precomputed")
    with pytest.raises(ValueError, match="40 features"):
        learner.predict(K[:, :40])


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_a_width_beside_a_kernel_that_brings_its_own_is_refused(name: str, data: Data) -> None:
    X, y = data[0], targets(name, data)
    refuses(name, X, y, "own parameters", kernel=GaussianKernel(1.0), sigma=2.0)
    refuses(name, X, y, "own parameters", kernel="linear", sigma=2.0)


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_a_kernel_parameter_set_out_of_range_later_is_refused(name: str, data: Data) -> None:
    learner = clone(LEARNERS[name]).set_params(kernel=GaussianKernel(1.0))
    with pytest.raises(ValueError, match="sigma"):
        learner.set_params(kernel__sigma=-1.0).fit(data[0], targets(name, data))
    learner = clone(LEARNERS[name]).set_params(kernel=PolynomialKernel(2))
    with pytest.raises(ValueError, match="degree"):
        learner.set_params(kernel__degree=1.5).fit(data[0], targets(name, data))


@pytest.mark.parametrize("name", SELECTING)
@pytest.mark.parametrize("sigma", [1e5, 1e6])
def test_a_width_at_which_columns_differ_by_rounding_alone_gives_few_centres(
    name: str, sigma: float, data: Data
) -> None:
    X, y = data[0], targets(name, data)
    learner = fitted(name, X, y, sigma=sigma, n_centers=44)
    assert learner.n_centers_.max() <= 6
    reference = LogisticRegression() if name in CLASSIFIERS else LinearRegression()
    assert learner.score(X, y) > reference.fit(X, y).score(X, y) - 0.2


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_a_kernel_of_no_real_numbers_is_refused(name: str, data: Data) -> None:
    for kernel in (lambda A, B: 1j * A @ B.T, lambda A, B: [["a"] * len(B)] * len(A)):
        refuses(name, data[0], targets(name, data), "real numbers", kernel=kernel)


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_the_class_of_a_kernel_is_no_kernel(name: str, data: Data) -> None:
    refuses(name, data[0], targets(name, data), r"GaussianKernel\(\)", kernel=GaussianKernel)


@pytest.mark.parametrize("name", [name for name in KERNEL_LEARNERS if not name.startswith("KRLS")])
def test_kernel_values_whose_squares_overflow_are_refused(name: str, data: Data) -> None:
    X, y = data[0], targets(name, data)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="too large to be squared"):
        fitted(name, X, y, kernel=lambda A, B: 1e250 * rbf_kernel(A, B))
