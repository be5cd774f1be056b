"""Kernels of the dot product: linear, polynomial, sigmoid."""

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse

from discriminants.kernels.kernel import Kernel, KernelColumns, check_finite, check_whole, positive_number, whole_power


class DotProductKernel(Kernel):
    """Base of the kernels k(x, c) = f(x'c); a subclass applies f to a block in place.

    Samples and centers may be csr arrays; kernel values are always dense.
    """

    sparse_inputs: ClassVar[bool] = True

    @abstractmethod
    def transform(self, products: np.ndarray) -> np.ndarray:
        """Apply f to every entry, in place."""

    def columns(self, centers: np.ndarray, dtype: np.dtype | type = np.float64) -> "DotProductColumns":
        """Prepare for fixed centers; blocks raise ValueError if a kernel value is too large for `dtype`."""
        return DotProductColumns(self, centers, dtype)

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return f(x'x) for every row of X, float64."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.transform(_square_norms(X))


class LinearKernel(DotProductKernel):
    """k(x, c) = x'c. Positive semidefinite, of rank n_features at most.

    See Also
    --------
    PolynomialKernel : of higher degree.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import LinearKernel
    >>> LinearKernel()(np.ones((1, 2)), np.ones((2, 2))).round(3)
    array([[2., 2.]])
    """

    def transform(self, products: np.ndarray) -> np.ndarray:
        """Return the products unchanged."""
        return products


class PolynomialKernel(DotProductKernel):
    """k(x, c) = (gamma x'c + theta)^degree (Andelic 2007, 2.60, where gamma is 1).

    Positive semidefinite for theta >= 0.

    Parameters
    ----------
    degree : int
        At least 1.
    theta : float
        Weight of the lower degrees; 0 gives the homogeneous polynomial.
    gamma : float or "scale"
        Factor of the product; "scale" is one over the mean squared norm of the samples. This makes gamma x'x about 1,
        so high degrees neither overflow nor vanish.

    Raises
    ------
    ValueError
        If degree is not a whole number of at least 1, gamma is not positive and finite, or theta is not finite.

    See Also
    --------
    LinearKernel : of degree one.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import PolynomialKernel
    >>> PolynomialKernel(gamma=1.0)(np.ones((1, 2)), np.ones((2, 2))).round(3)
    array([[27., 27.]])
    """

    def __init__(self, degree: int = 3, theta: float = 1.0, gamma: float | str = "scale") -> None:
        self.degree = degree
        self.theta = theta
        self.gamma = gamma
        self._check()

    def _check(self) -> None:
        check_whole("degree", self.degree)
        _check_offset(self.theta)
        _check_factor("gamma", self.gamma)

    def resolved(self, X: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Return a copy with `gamma` as a number."""
        return type(self)(self.degree, self.theta, _factor("gamma", self.gamma, X, sample_weight))

    def columns(self, centers: np.ndarray, dtype: np.dtype | type = np.float64) -> "DotProductColumns":
        """Prepare for fixed centers."""
        self._check()
        return super().columns(centers, dtype)

    def transform(self, products: np.ndarray) -> np.ndarray:
        """Apply (gamma v + theta)^degree to every entry, in place."""
        products *= products.dtype.type(positive_number("gamma", self.gamma))
        products += products.dtype.type(self.theta)
        return whole_power(products, self.degree)


class SigmoidKernel(DotProductKernel):
    """k(x, c) = tanh(kappa x'c + theta) (Andelic 2007, 2.61).

    Not positive semidefinite for any choice of the parameters, but suitable for learners that need only columns and not
    a norm.

    Parameters
    ----------
    kappa : float or "scale"
        Factor of the product; "scale" is one over the mean squared norm of the samples, which makes kappa x'x about 1.
    theta : float
        Added to the product.

    Raises
    ------
    ValueError
        If kappa is not positive and finite, or theta not finite.

    See Also
    --------
    PolynomialKernel : positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import SigmoidKernel
    >>> SigmoidKernel(kappa=0.1)(np.ones((1, 2)), np.ones((2, 2))).round(3)
    array([[0.197, 0.197]])
    """

    def __init__(self, kappa: float | str = "scale", theta: float = 0.0) -> None:
        self.kappa = kappa
        self.theta = theta
        self._check()

    def _check(self) -> None:
        _check_factor("kappa", self.kappa)
        _check_offset(self.theta)

    def resolved(self, X: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Return a copy with `kappa` as a number."""
        return type(self)(_factor("kappa", self.kappa, X, sample_weight), self.theta)

    def columns(self, centers: np.ndarray, dtype: np.dtype | type = np.float64) -> "DotProductColumns":
        """Prepare for fixed centers."""
        self._check()
        return super().columns(centers, dtype)

    def transform(self, products: np.ndarray) -> np.ndarray:
        """Apply tanh(kappa v + theta) to every entry, in place."""
        products *= products.dtype.type(positive_number("kappa", self.kappa))
        products += products.dtype.type(self.theta)
        return np.tanh(products, out=products)


class DotProductColumns(KernelColumns):
    """One matrix product, followed by the kernel's function in place."""

    def __init__(self, kernel: DotProductKernel, centers: np.ndarray, dtype: np.dtype | type) -> None:
        super().__init__(centers, dtype)
        self._centers: Any = centers
        self._kernel = kernel

    @cached_property
    def _right(self) -> Any:
        """Transposed centers, made on use, so that the check of a file allocates no memory for empty features."""
        if issparse(self._centers):
            return self._centers.T.tocsr().astype(self.dtype)
        return np.ascontiguousarray(self._centers.T, dtype=self.dtype)

    def _block(self, X: np.ndarray, out: np.ndarray | None, work: np.ndarray | None) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            K = self._products(X.astype(self.dtype, copy=False), out)
            self._kernel.transform(K)
        check_finite(K, self._kernel)
        return K

    def _products(self, X: Any, out: np.ndarray | None) -> np.ndarray:
        """Return X times the centers, in `out` if given; products with sparse arrays are made first."""
        if not (issparse(X) or issparse(self._right)):
            return np.matmul(X, self._right, out=out)
        K = X @ self._right
        if issparse(K):
            return np.asarray(K.toarray(out=out))
        if out is None:
            return np.asarray(K)
        out[...] = K
        return out


def _square_norms(X: Any) -> np.ndarray:
    """Return x'x for every row of X, float64."""
    if issparse(X):
        return np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def _check_factor(name: str, value: Any) -> None:
    if isinstance(value, str):
        if value != "scale":
            raise ValueError(f'{name} must be "scale" or a positive number, got {value!r}')
    else:
        positive_number(name, value)


def _check_offset(theta: Any) -> None:
    if isinstance(theta, str) or np.ndim(theta) or not np.isfinite(theta):
        raise ValueError(f"theta must be a finite number, got {theta!r}")


def _factor(name: str, value: Any, X: np.ndarray, sample_weight: np.ndarray | None) -> float:
    """Return the number itself, or one over the mean squared norm (1 if all samples are zero)."""
    _check_factor(name, value)
    if value != "scale":
        return positive_number(name, value)
    with np.errstate(over="ignore"):
        mean = float(np.average(_square_norms(X), weights=sample_weight))
    if not np.isfinite(mean):
        raise ValueError(
            f"{name} = 'scale' cannot be computed: the squared norms of the samples overflow. Scale the features"
        )
    return 1.0 / mean if mean > 0.0 else 1.0
