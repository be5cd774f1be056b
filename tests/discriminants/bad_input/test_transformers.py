"""Whatever is wrong, the transformers say so in words as the learners do."""

from typing import Any

import numpy as np
import pytest

from discriminants import GreedyNystroem, KernelDiscriminantAnalysis, KernelPLS, LSSVMKernelPCA, OrientedKernelPCA
from discriminants.kernels import GaussianKernel
from tests.discriminants.bad_input.learners import Data
from tests.discriminants.bad_input.test_kernels_and_widths import FUNCTIONS, WIDTHS

TRANSFORMERS: list[Any] = [
    KernelDiscriminantAnalysis(),
    KernelDiscriminantAnalysis(n_centers=10),
    KernelDiscriminantAnalysis(penalty="kernel", solver="eigen"),
    KernelPLS(),
    LSSVMKernelPCA(),
    LSSVMKernelPCA(bias=False),
    OrientedKernelPCA(),
    OrientedKernelPCA(penalty="kernel"),
    GreedyNystroem(chooser="cholesky"),
    GreedyNystroem(10, chooser="greedy"),
]


@pytest.mark.parametrize("model", TRANSFORMERS)
def test_wrong_widths_kernels_samples_and_parameters_are_refused(model: Any, data: Data) -> None:
    X, y, _ = data

    def refused(message: str, X: Any = X, **parameters: Any) -> None:
        with pytest.raises(ValueError, match=message):
            type(model)(**{**model.get_params(), **parameters}).fit(X, y)

    for sigma in WIDTHS:
        refused("sigma", sigma=sigma)
    for kernel, message in FUNCTIONS:
        refused(message, kernel=kernel)
    refused("kernel", kernel="rbf")
    refused("constant", kernel=lambda A, B: np.ones((len(A), len(B))))
    refused("constant", X=np.full((45, 3), 2.2))
    refused("too large to be squared", kernel=lambda A, B: 1e250 * GaussianKernel(1.0)(A, B))
    refused("NaN", X=np.where(X > 1, np.nan, X))
    refused("square", X=np.eye(45)[:, :40], kernel="precomputed")
    for parameter, values in (
        ("regularization", [0.0, -1.0, np.nan, np.inf]),
        ("penalty", ["ridge", None]),
        ("n_components", [0, 2.5]),
        ("chooser", ["best", None]),
        ("n_candidates", [0, 2.5]),
        ("tol", [-1.0, 1.0, np.nan]),
    ):
        if parameter not in model.get_params():
            continue
        for value in values:
            refused(f"'{parameter}' parameter", **{parameter: value})


@pytest.mark.parametrize("model", TRANSFORMERS)
def test_a_precomputed_kernel_gives_what_its_points_give(model: Any, data: Data) -> None:
    X, y, _ = data
    K = GaussianKernel(1.5)(X, X)
    by_points = type(model)(**{**model.get_params(), "sigma": 1.5}).fit(X, y).transform(X)
    by_matrix = type(model)(**{**model.get_params(), "kernel": "precomputed"}).fit(K, y).transform(K)
    np.testing.assert_allclose(by_matrix, by_points, atol=1e-5)
