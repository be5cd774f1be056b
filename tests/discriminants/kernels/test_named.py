"""From the parameters of an estimator to a kernel, and kernels evaluated by somebody else."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from discriminants.kernels import (
    FunctionKernel,
    GaussianKernel,
    Kernel,
    PolynomialKernel,
    PrecomputedKernel,
    make_kernel,
)
from discriminants.kernels.named import NAMED, WITH_WIDTH


def test_the_names_are_those_documented() -> None:
    assert sorted(NAMED) == (
        "ard_gaussian compact_gaussian exponential gaussian laplacian linear polynomial precomputed sigmoid".split()
    )
    assert sorted(WITH_WIDTH) == "ard_gaussian compact_gaussian exponential gaussian laplacian".split()


@pytest.mark.parametrize("name", NAMED)
def test_a_name_gives_a_kernel_that_data_resolve(name: str) -> None:
    X = np.random.default_rng(0).normal(size=(8, 8))
    kernel = make_kernel(name)
    assert isinstance(kernel, Kernel)
    resolved = kernel.resolved(X)
    assert resolved(X, X).shape == (8, 8)
    assert np.isfinite(resolved(X, X)).all()


@pytest.mark.parametrize("name", WITH_WIDTH)
def test_a_name_takes_the_width_that_is_given_beside_it(name: str) -> None:
    assert make_kernel(name, 2.5).get_params()["sigma"] == 2.5


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "sigmoid", "precomputed", GaussianKernel(1.0), rbf_kernel])
def test_a_width_beside_a_kernel_that_takes_none_is_refused(kernel: object) -> None:
    with pytest.raises(ValueError, match="sigma = "):
        make_kernel(kernel, 2.5)


@pytest.mark.parametrize("kernel", ["rbf", 3, None])
def test_what_names_no_kernel_is_refused(kernel: object) -> None:
    with pytest.raises(ValueError, match="kernel must be"):
        make_kernel(kernel)


@pytest.mark.parametrize(("name", "here"), [("rbf", "gaussian"), ("poly", "polynomial")])
def test_name_of_scikit_learn_raises_with_the_name_here(name: str, here: str) -> None:
    with pytest.raises(ValueError, match=f"'{here}'"):
        make_kernel(name)


def test_a_kernel_object_is_taken_as_it_is() -> None:
    kernel = PolynomialKernel(2)
    assert make_kernel(kernel) is kernel


def test_a_function_becomes_a_kernel() -> None:
    X = np.random.default_rng(1).normal(size=(8, 3))
    kernel = make_kernel(rbf_kernel)
    assert isinstance(kernel, FunctionKernel)
    np.testing.assert_allclose(kernel(X, X[:2]), rbf_kernel(X, X[:2]))


@pytest.mark.parametrize(
    ("function", "message"),
    [(lambda X, C: np.zeros((1, 1)), "shape"), (lambda X, C: np.full((X.shape[0], C.shape[0]), np.nan), "not finite")],
)
def test_a_function_that_returns_no_kernel_matrix_is_refused(function: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FunctionKernel(function)(np.zeros((5, 2)), np.zeros((3, 2)))  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_precomputed_kernel_reads_the_columns_of_its_centres(dtype: type) -> None:
    random = np.random.default_rng(2)
    K = random.normal(size=(9, 9)).astype(dtype)
    kernel = PrecomputedKernel().resolved(K)
    rows = np.array([4, 1])
    kept = kernel.at(rows)
    np.testing.assert_array_equal(kept(K[:5], K[rows]), K[:5][:, rows])
    np.testing.assert_array_equal(kernel.diagonal(K), np.diagonal(K))
    weights = random.normal(size=(2, 3))
    np.testing.assert_allclose(kept.evaluate(K, K[rows], weights, 1.0), K[:, rows] @ weights + 1, atol=1e-5)
    assert not kernel.centers_are_points


def test_a_precomputed_kernel_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="square"):
        PrecomputedKernel().resolved(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="one index per center"):
        PrecomputedKernel(np.arange(2)).columns(np.zeros((3, 3)))
