"""Locality-improved kernels, which compare images or sequences in windows around each place."""

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np

from discriminants.kernels.kernel import Kernel, KernelColumns, check_finite, check_whole, whole_power

Window = tuple[np.ndarray, np.ndarray]


class LocalityKernel(Kernel):
    """Base of k(x, c) = (sum_p (sum_j v_j match(x_j, c_j))^local_degree)^degree, with j in a window around place p."""

    def __init__(self, radius: int, local_degree: int, degree: int) -> None:
        self.radius = radius
        self.local_degree = local_degree
        self.degree = degree
        self._check()

    def _check(self) -> None:
        check_whole("radius", self.radius, least=0)
        check_whole("local_degree", self.local_degree)
        check_whole("degree", self.degree)

    @abstractmethod
    def windows(self, n_features: int) -> Iterator[Window]:
        """Yield features and weights of the window of each place."""

    def _around(self, place: int, size: int) -> np.ndarray:
        """Return the places in the window around `place`, of 0 to size - 1."""
        return np.arange(max(0, place - self.radius), min(size, place + self.radius + 1))

    @abstractmethod
    def match(self, x: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Compare values of a feature; the arrays broadcast."""

    def local(self, X: np.ndarray, centers: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the weighted sums of the matches in a window, (n_samples, n_centers)."""
        sums = np.zeros((X.shape[0], centers.shape[0]), dtype=X.dtype)
        for x, c, weight in zip(X.T, centers.T, weights, strict=True):
            sums += weight * self.match(x[:, None], c)
        return sums

    def columns(self, centers: np.ndarray, dtype: np.dtype | type = np.float64) -> "LocalityColumns":
        """Prepare for fixed centers; blocks raise ValueError if a kernel value is too large for `dtype`."""
        self._check()
        next(self.windows(centers.shape[1]), None)  # checks the number of features
        return LocalityColumns(self, centers, dtype)

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return k(x, x)."""
        with np.errstate(over="ignore", invalid="ignore"):
            matches, sums = self.match(X.astype(np.float64), X.astype(np.float64)), np.zeros(X.shape[0])
            for features, weights in self.windows(X.shape[1]):
                sums += whole_power(matches[:, features] @ weights, self.local_degree)
            return whole_power(sums, self.degree)


class LocalityColumns(KernelColumns):
    """Sums over the windows."""

    def __init__(self, kernel: LocalityKernel, centers: np.ndarray, dtype: np.dtype | type) -> None:
        super().__init__(centers, dtype)
        self._kernel = kernel
        self._centers = centers.astype(self.dtype)

    def _block(self, X: np.ndarray, out: np.ndarray | None, work: np.ndarray | None) -> np.ndarray:
        kernel, X = self._kernel, X.astype(self.dtype, copy=False)
        K = np.empty((X.shape[0], self.n_centers), dtype=self.dtype) if out is None else out
        K[...] = 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            for features, weights in kernel.windows(self.n_features):
                local = kernel.local(X[:, features], self._centers[:, features], weights.astype(self.dtype))
                K += whole_power(local, kernel.local_degree)
            whole_power(K, kernel.degree)
        check_finite(K, kernel)
        return K


class LocalImageKernel(LocalityKernel):
    """k(x, z) = (sum_p (sum_q w_pq x_q z_q)^local_degree)^degree over the pixels p, with q in a square around p.

    Positive semidefinite. It is a polynomial kernel of degree local_degree * degree in which products of nearby pixels
    count most. The weights decrease from the center of the square: w_pq = radius + 1 - max(|dx|, |dy|), the pyramid of
    the source. For local_degree 1 it is almost a homogeneous polynomial kernel.

    Parameters
    ----------
    shape : tuple of int
        Height and width of the images, whose rows of pixels are the features.
    radius : int
        Half the width of the squares, which are 2 radius + 1 pixels wide.
    local_degree : int
        Degree of the products within a square.
    degree : int
        Degree of the products between squares.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the samples do not have the shape.

    References
    ----------
    B. Schoelkopf, P. Simard, A. Smola and V. Vapnik, Prior knowledge in support vector kernels, NIPS 10, 1998, 640-646.

    See Also
    --------
    PolynomialKernel : products of any pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants.kernels import LocalImageKernel
    >>> LocalImageKernel((2, 2))(np.ones((1, 4)), np.eye(4)[:2])
    array([[49., 49.]])
    """

    def __init__(self, shape: tuple[int, int], radius: int = 1, local_degree: int = 2, degree: int = 2) -> None:
        self.shape = shape
        super().__init__(radius, local_degree, degree)

    def _check(self) -> None:
        super()._check()
        shape: object = self.shape
        if not isinstance(shape, tuple | list) or len(shape) != 2:
            raise ValueError(f"shape must be the height and width of the images, got {shape!r}")
        for size in shape:
            check_whole("shape", size)

    def windows(self, n_features: int) -> Iterator[Window]:
        """Yield the square around each pixel, within the image."""
        height, width = self.shape
        if height * width != n_features:
            raise ValueError(f"samples have {n_features} features. Expected {height * width}, for shape = {self.shape}")
        for y in range(height):
            rows = self._around(y, height)
            for x in range(width):
                columns = self._around(x, width)
                distance = np.maximum(np.abs(rows - y)[:, None], np.abs(columns - x))
                yield (rows[:, None] * width + columns).ravel(), self.radius + 1.0 - distance.ravel()

    def match(self, x: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Return the product."""
        return x * c

    def local(self, X: np.ndarray, centers: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the weighted sums of products as a matrix product."""
        return (X * weights) @ centers.T


class LocalSequenceKernel(LocalityKernel):
    """k(x, z) = (sum_p win_p)^degree with win_p = (sum_j v_j [x_(p+j) = z_(p+j)])^local_degree.

    Positive semidefinite (Suykens et al. 2002, 2.70, where local_degree is d_1 and degree is d_2). It compares aligned
    sequences of one length, such as windows of DNA, position by position. The weights v_j = radius + 1 - |j| increase
    toward the center. The samples hold a number for each symbol, such as the codes of `OrdinalEncoder`.

    Parameters
    ----------
    radius : int
        Half the width of a window, which has 2 radius + 1 positions.
    local_degree : int
        Degree of the products within a window.
    degree : int
        Degree of the products between windows.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    A. Zien et al., Engineering support vector machine kernels that recognize translation initiation sites,
    Bioinformatics 16, 2000, 799-807.

    See Also
    --------
    string_subsequence_kernel : sequences of different lengths.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants.kernels import LocalSequenceKernel
    >>> LocalSequenceKernel(1)(np.array([[0, 1, 2]]), np.array([[0, 1, 2], [0, 1, 3], [3, 3, 3]]))
    array([[34., 19.,  0.]])
    """

    def __init__(self, radius: int = 2, local_degree: int = 2, degree: int = 1) -> None:
        super().__init__(radius, local_degree, degree)

    def windows(self, n_features: int) -> Iterator[Window]:
        """Yield the positions around each position."""
        for place in range(n_features):
            inside = self._around(place, n_features)
            yield inside, self.radius + 1.0 - np.abs(inside - place)

    def match(self, x: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Return 1 for equal symbols, else 0."""
        matches: np.ndarray = x == c
        return matches.astype(x.dtype)
