"""Base of the learners on a fixed basis: centers chosen before the weights, and features whitened in them."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from discriminants.center_selection.choice import CHOOSERS, chosen_rows
from discriminants.kernels import Kernel, PrecomputedKernel, make_kernel
from discriminants.kernels.named import NAMED
from discriminants.linear_systems.kernel_values import check_size, check_symmetric, check_values, kernel_matrix
from discriminants.linear_systems.pivoted_cholesky import pivoted_cholesky
from discriminants.util.estimator import COUNT, POSITIVE, estimator, parameter
from discriminants.util.expansion import KernelExpansion

_INDEFINITE = 1e-6  # largest error of a factor, relative to the largest k(x, x)


def whitening_map(K: np.ndarray, tol: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute independent centers S, ascending, and A with A A' = K_SS^-1.

    k(x, S) A are features whose products are the kernel in the span of the centers. K (m, m) is the kernel matrix of
    the centers. A center is dropped if at most `tol` times the largest k(x, x) lies outside the span of the others.
    Raises ValueError if the kernel is not symmetric and positive semidefinite on the centers.
    """
    check_symmetric(K, "the Nystroem approximation")
    G, pivots, _ = pivoted_cholesky(PrecomputedKernel().resolved(K), K, K.shape[0], tol)
    largest = max(float(K.diagonal().max()), 0.0)
    if not pivots.size or np.abs(K - G @ G.T).max() > 2.0 * max(_INDEFINITE, tol) * largest:
        raise ValueError(
            "the kernel matrix of the centers is zero or has negative eigenvalues. "
            "Expected a positive semidefinite kernel"
        )
    inverse = solve_triangular(G[pivots], np.eye(pivots.shape[0]), lower=True, check_finite=False)
    order = np.argsort(pivots)
    return pivots[order], np.ascontiguousarray(inverse.T[order])


BLOCK = 2048  # samples in a block
_CHECKED = 1024  # samples whose kernel values are checked before the rest


@estimator
class ChosenCenters(KernelExpansion):
    """Base class whose `_basis` chooses the centers.

    Outputs are summed in float64, because the weights of nearly dependent centers are large and cancel.

    Parameters
    ----------
    kernel
        Symmetric and positive semidefinite, the same for all centers.
    chooser : str or callable
        "k-means" takes the samples nearest to the means of clusters. "feature-vectors" repeatedly adds the sample that
        most increases how well the span of the centers represents all samples. "cholesky" repeatedly adds the sample
        furthest from the span of the centers. "entropy" maximizes the quadratic Renyi entropy. "leverage" draws by
        leverage scores, and "random" uniformly. "greedy" takes the centers that explain y best, by forward selection. A
        function is called with samples, kernel, number of centers, RandomState and targets (or None) and returns row
        numbers.
    n_candidates : int or None
        Number of samples, drawn at random, from which centers are chosen and by which the choice is scored; None uses
        all. The choosers except "random", "entropy" and "leverage" use up to 8 bytes per candidate and center.
    tol : float
        A center is omitted if no more than this fraction of the largest k(x, x) lies outside the span of the others.

    Attributes
    ----------
    center_indices_ : ndarray of int of shape (m,)
        Rows of the training samples, not in the order of choice.
    """

    _sparse_inputs: ClassVar[bool] = True

    kernel: Any = parameter(set(NAMED), Kernel, callable, default="gaussian")
    sigma: Any = parameter({"scale"}, POSITIVE, np.ndarray, default="scale")
    chooser: Any = parameter(set(CHOOSERS), callable, default="k-means")
    n_candidates: int | None = parameter(COUNT, None, default=20_000)
    tol: float = parameter(Interval(Real, 0, 1, closed="left"), default=1e-10)
    random_state: Any = parameter("random_state", default=None)

    def _basis(
        self, X: np.ndarray, n_centers: int, targets: np.ndarray | None, centers: np.ndarray | None = None
    ) -> tuple[Kernel, np.ndarray, np.ndarray]:
        """Return the kernel for the centers, centers (m, n_features), and the map (m, m) that whitens their columns.

        If `centers` are given, the independent ones are used instead of a choice. Raises ValueError if the kernel does
        not fit, or is the same for all samples.
        """
        if X.shape[0] < 2:
            raise ValueError(f"{type(self).__name__} needs at least two samples, got 1 sample")
        kernel = make_kernel(self.kernel, self.sigma).resolved(X)
        one_for_all = kernel.centers_are_points and kernel.over(X[:1])[1].size == 1
        if not (one_for_all or isinstance(kernel, PrecomputedKernel)):
            raise ValueError(
                f"{type(self).__name__} needs a symmetric kernel that is the same for all centers, got {kernel}"
            )
        some = np.linspace(0, X.shape[0] - 1, min(X.shape[0], _CHECKED)).astype(np.intp)
        check_size(float(np.abs(kernel.at(some).diagonal(X[some])).max()))
        rows = None
        if centers is None:
            random = check_random_state(self.random_state)
            rows = chosen_rows(self.chooser, X, kernel, n_centers, random, targets, self.n_candidates)
            kernel, centers = kernel.at(rows), X[rows]
        centers = centers.astype(np.float64)
        among = kernel_matrix(kernel, centers, centers)
        check_values(np.concatenate([kernel_matrix(kernel, X[some], centers), among]))
        kept, whitening = whitening_map(among, self.tol)
        if rows is not None:
            self.center_indices_ = rows[kept]
        return kernel.at(kept), centers[kept], whitening

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        """Return all outputs for checked X, in its float type."""
        outputs = np.empty((X.shape[0], self.intercept_.shape[0]), dtype=X.dtype)
        for start in range(0, X.shape[0], BLOCK):
            rows = slice(start, start + BLOCK)
            outputs[rows] = super()._outputs(X[rows].astype(np.float64, copy=False))
        return outputs
