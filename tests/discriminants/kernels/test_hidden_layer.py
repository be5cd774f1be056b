"""The kernel of a random hidden layer."""

import numpy as np
import pytest

from discriminants import LSSVMRegressor, estimator_from_arrays, estimator_to_arrays
from discriminants.kernels import HiddenLayerKernel


def samples(dtype: type = np.float64) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(50, 3)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_equal_the_product_of_layers(dtype: type) -> None:
    X = samples(dtype)
    kernel = HiddenLayerKernel(20, 2.0).resolved(X)
    assert kernel.layer is not None
    V, b = kernel.layer[:-1].T, kernel.layer[-1]
    units = np.array([np.tanh(V @ x + b) for x in X.astype(np.float64)])
    K = kernel(X, X)
    assert K.dtype == dtype
    np.testing.assert_allclose(K, units @ units.T, atol=1e-12 if dtype == np.float64 else 1e-4)
    np.testing.assert_allclose(kernel.diagonal(X), (units**2).sum(axis=1), atol=1e-12)
    blocks = [block.copy() for _, block in kernel.columns(X, dtype).blocks(X, 7)]
    np.testing.assert_allclose(np.vstack(blocks), K, atol=1e-12 if dtype == np.float64 else 1e-4)
    assert np.linalg.eigvalsh(K.astype(np.float64)).min() > -1e-4


def test_seed_determines_the_layer_which_moves_with_the_samples() -> None:
    X = samples()
    kernel, same, other = (HiddenLayerKernel(seed=seed).resolved(X) for seed in (0, 0, 1))
    np.testing.assert_array_equal(kernel(X, X), same(X, X))
    assert not np.allclose(kernel(X, X), other(X, X))
    moved = 100 + 10 * X
    np.testing.assert_allclose(HiddenLayerKernel().resolved(moved)(moved, moved), kernel(X, X), rtol=1e-9)
    np.testing.assert_array_equal(kernel.resolved(moved)(X, X), kernel(X, X))
    weight = np.arange(50.0)
    weighted, repeated = (
        HiddenLayerKernel().resolved(X, weight),
        HiddenLayerKernel().resolved(X.repeat(range(50), axis=0)),
    )
    np.testing.assert_allclose(weighted(X, X), repeated(X, X), rtol=1e-9)


def test_restored_machine_predicts_the_same() -> None:
    X = samples(np.float32)
    model = LSSVMRegressor(kernel=HiddenLayerKernel()).fit(X, np.sin(X[:, 0]))
    restored = estimator_from_arrays(*estimator_to_arrays(model))
    np.testing.assert_array_equal(restored.predict(X), model.predict(X))
    assert model.score(X, np.sin(X[:, 0])) > 0.95


@pytest.mark.parametrize("parameters", [{"n_units": 0}, {"n_units": 2.5}, {"seed": -1}, {"sigma": 0.0}])
def test_invalid_parameter_is_refused(parameters: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(parameters))):
        HiddenLayerKernel(**parameters)  # type: ignore[arg-type]


def test_missing_or_unsuitable_layer_is_refused() -> None:
    with pytest.raises(ValueError, match="resolved"):
        HiddenLayerKernel()(samples(), samples())
    with pytest.raises(ValueError, match="shape"):
        HiddenLayerKernel(2, layer=np.zeros((3, 2)))(samples(), samples())
