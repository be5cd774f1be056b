"""The compactly supported Gaussian, zero beyond a few widths, with sparse matrices."""

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from discriminants.kernels.half_squares import HalfSquares, half_square, in_widths
from discriminants.kernels.kernel import BLOCK_ROWS, SparseKernelColumns, positive_number
from discriminants.kernels.radial import RadialKernel
from discriminants.util.numba_cache import njit

_TREE_FEATURES = 4  # in more dimensions a tree visits most points, and the matrix product is faster


class CompactGaussianKernel(RadialKernel):
    """k(x, c) = exp(-r^2/2) max(0, 1 - r/cutoff)^l with r = |x - c| / sigma, or the first factor for r < cutoff.

    The source proposes to truncate the kernel so that the Gram matrix of a large set is sparse (Andelic 2007, chapter
    6). Truncation alone makes it indefinite. The taper is Askey's function, which is positive definite in n_features
    dimensions if and only if l >= (n_features + 1) / 2. The product is then positive definite as well (Genton 2001;
    Zhang, Genton and Liu 2004). Here l is the smallest: (n_features + 1) / 2.

    The taper reduces the effective width, more so with more features: in 40 dimensions it alone is 1e-3 at r = 0.85,
    with the cutoff at 3.

    Parameters
    ----------
    sigma : float or "scale"
        Width, in the units of the inputs. "scale" is the root of the summed feature variances, at which nearly all
        pairs of samples are neighbors; sparse matrices need a smaller width.
    cutoff : float
        Radius of the support, in widths.
    taper : bool
        False truncates: not positive definite, and discontinuous by exp(-cutoff^2/2) at the border.

    Raises
    ------
    ValueError
        If sigma or cutoff is not positive and finite.

    References
    ----------
    R. Askey, Radial characteristic functions, report 1262, Mathematics Research Center, Madison 1973.
    M. G. Genton, Classes of kernels for machine learning: a statistics perspective, JMLR 2, 2001, 299-312.
    H. H. Zhang, M. Genton and P. Liu, Compactly supported radial basis function kernels, report 2570, North
    Carolina State University 2004.

    See Also
    --------
    GaussianKernel : without a limit of its range.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import CompactGaussianKernel
    >>> CompactGaussianKernel(1.0)(np.zeros((1, 2)), np.ones((2, 2))).round(3)
    array([[0.141, 0.141]])
    """

    def __init__(self, sigma: float | str = "scale", cutoff: float = 3.0, taper: bool = True) -> None:
        super().__init__(sigma)
        self.cutoff = cutoff
        self.taper = taper
        positive_number("cutoff", cutoff)

    def columns(self, centers: np.ndarray, dtype: np.dtype | type = np.float64) -> "CompactColumns":
        """Prepare for fixed centers."""
        twice_exponent = centers.shape[1] + 1 if self.taper else 0
        sigma, cutoff = positive_number("sigma", self.sigma), positive_number("cutoff", self.cutoff)
        return CompactColumns(sigma, cutoff, twice_exponent, centers, dtype)


class CompactColumns(SparseKernelColumns):
    """Columns that find neighbors first, by a tree or in many dimensions by the matrix product of one block.

    The kernel is then evaluated for these pairs from their differences, so dense and sparse blocks have the same
    values.
    """

    def __init__(
        self, sigma: float, cutoff: float, twice_exponent: int, centers: np.ndarray, dtype: np.dtype | type
    ) -> None:
        super().__init__(centers, dtype)
        self._centers = np.ascontiguousarray(centers, dtype=np.float64)
        self._squares = HalfSquares(centers, sigma, dtype)
        self._sigma, self._cutoff, self._twice_exponent = sigma, cutoff, twice_exponent
        by_tree = centers.shape[0] > 0 and 0 < centers.shape[1] <= _TREE_FEATURES
        self._tree = cKDTree(in_widths(self._centers, self._centers[0], sigma)) if by_tree else None

    def work_space(self, n_rows: int) -> np.ndarray:
        """Allocate the left factor of the matrix product."""
        return self._squares.work_space(n_rows)

    def _block(self, X: np.ndarray, out: np.ndarray | None, work: np.ndarray | None) -> np.ndarray:
        left = self.work_space(X.shape[0]) if work is None else work
        K = np.empty((X.shape[0], self.n_centers), dtype=self.dtype) if out is None else out
        products = self._squares.products(X, K if self._squares.dtype == self.dtype else None, left)
        rows, columns = self._squares.at_least(-0.5 * self._cutoff**2, products, left)
        K[...] = 0.0
        K[rows, columns] = self._values(X, rows, columns)
        return K

    def _sparse(self, X: np.ndarray) -> csr_array:
        rows, columns = self._neighbours_by_product(X) if self._tree is None else self._neighbours_by_tree(X)
        values = self._values(X, rows, columns)
        inside = values != 0.0
        K = csr_array((values[inside], (rows[inside], columns[inside])), shape=(X.shape[0], self.n_centers))
        K.sort_indices()
        return K

    def _neighbours_by_tree(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        reach = self._cutoff * (1.0 + 1e-9)  # rounding loses no pair; a superfluous pair gets a zero
        tree = cKDTree(in_widths(X, self._centers[0], self._sigma))
        pairs = tree.sparse_distance_matrix(self._tree, reach, output_type="ndarray")
        return pairs["i"], pairs["j"]

    def _neighbours_by_product(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = []
        for start in range(0, max(1, X.shape[0]), BLOCK_ROWS):
            block = X[start : start + BLOCK_ROWS]
            left = self.work_space(block.shape[0])
            rows, columns = self._squares.at_least(
                -0.5 * self._cutoff**2, self._squares.products(block, None, left), left
            )
            found.append((rows + start, columns))
        return np.concatenate([rows for rows, _ in found]), np.concatenate([columns for _, columns in found])

    def _values(self, X: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        values = np.empty(rows.shape[0], dtype=self.dtype)
        X = np.ascontiguousarray(X)
        _pair_values(X, self._centers, rows, columns, 1.0 / self._sigma, self._cutoff, self._twice_exponent, values)
        return values


@njit(cache=True, nogil=True)
def _pair_values(
    X: np.ndarray,
    centers: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    inverse_width: float,
    cutoff: float,
    twice_exponent: int,
    values: np.ndarray,
) -> None:
    whole, half = divmod(twice_exponent, 2)
    for pair in range(rows.shape[0]):
        gauss = half_square(X[rows[pair]], centers[columns[pair]], inverse_width)
        nearness = 1.0 - np.sqrt(-2.0 * gauss) / cutoff
        if nearness <= 0.0:
            values[pair] = 0.0
            continue
        taper = nearness**whole  # binary powers
        values[pair] = np.exp(gauss) * (taper * np.sqrt(nearness) if half else taper)
