"""The kernel of a random hidden layer."""

from typing import Self

import numpy as np

from discriminants.kernels.kernel import Kernel, KernelColumns, check_finite, check_whole, positive_number
from discriminants.kernels.width import resolve_sigma


class HiddenLayerKernel(Kernel):
    """k(x, c) = tanh(V x + b)'tanh(V c + b), the scalar product of hidden layers (Suykens et al. 2002, 2.68).

    Positive semidefinite, of rank n_units at most: a neural network with one hidden layer, whose output weights are
    learned by the kernel machine. `SigmoidKernel` is not positive semidefinite. The source leaves V and b open; here
    they are random.

    Parameters
    ----------
    n_units : int
        Number of hidden units.
    sigma : float or "scale"
        The entries of V are normal with deviation 1 / sigma, so a smaller sigma gives steeper units. "scale" is the
        root of the summed feature variances.
    seed : int
        Seed of V and b.
    layer : ndarray of shape (n_features + 1, n_units), optional
        V' and, in the last row, b; drawn by `resolved`. The layer is centered on the mean of the samples.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    See Also
    --------
    SigmoidKernel : tanh of the scalar product.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants.kernels import HiddenLayerKernel
    >>> X = np.eye(3)
    >>> HiddenLayerKernel(50).resolved(X)(X, X[:2]).shape
    (3, 2)
    """

    def __init__(
        self, n_units: int = 100, sigma: float | str = "scale", seed: int = 0, layer: np.ndarray | None = None
    ) -> None:
        self.n_units = n_units
        self.sigma = sigma
        self.seed = seed
        self.layer = layer
        check_whole("n_units", n_units)
        check_whole("seed", seed, least=0)
        if not isinstance(sigma, str):
            positive_number("sigma", sigma)

    def resolved(self, X: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Return a copy with a layer."""
        if self.layer is not None:
            return type(self)(self.n_units, self.sigma, self.seed, self.layer)
        sigma = positive_number("sigma", resolve_sigma(self.sigma, X, sample_weight))
        weight = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        layer = np.random.default_rng(self.seed).normal(size=(X.shape[1] + 1, self.n_units))
        layer[:-1] /= sigma
        layer[-1] -= (weight @ X / weight.sum()) @ layer[:-1]
        return type(self)(self.n_units, sigma, self.seed, layer)

    def units(self, X: np.ndarray) -> np.ndarray:
        """Return tanh(V x + b) of the samples, float64 (n_samples, n_units)."""
        if self.layer is None:
            raise ValueError("layer is missing. Expected a kernel after resolved(X)")
        layer = np.asarray(self.layer)
        wanted = (X.shape[1] + 1, self.n_units)
        if layer.shape != wanted or layer.dtype.kind != "f" or not np.isfinite(layer).all():
            raise ValueError(f"layer has shape {layer.shape} and type {layer.dtype}. Expected finite numbers, {wanted}")
        with np.errstate(over="ignore", invalid="ignore"):
            values = X.astype(np.float64, copy=False) @ layer[:-1] + layer[-1]
        return np.tanh(values, out=values)

    def columns(self, centers: np.ndarray, dtype: np.dtype | type = np.float64) -> "HiddenLayerColumns":
        """Prepare for fixed centers; blocks raise ValueError for samples too large for `dtype`."""
        return HiddenLayerColumns(self, centers, dtype)

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return the squared norms of the layers."""
        values = self.units(X)
        return np.einsum("ij,ij->i", values, values)


class HiddenLayerColumns(KernelColumns):
    """A matrix product of the layers."""

    def __init__(self, kernel: HiddenLayerKernel, centers: np.ndarray, dtype: np.dtype | type) -> None:
        super().__init__(centers, dtype)
        self._kernel = kernel
        self._right = np.ascontiguousarray(kernel.units(centers).T, dtype=self.dtype)

    def _block(self, X: np.ndarray, out: np.ndarray | None, work: np.ndarray | None) -> np.ndarray:
        K = np.matmul(self._kernel.units(X).astype(self.dtype, copy=False), self._right, out=out)
        check_finite(K, self._kernel)
        return K
