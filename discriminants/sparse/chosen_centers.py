"""What the learners on a fixed basis share: centres chosen before the weights, and features that are white in them."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from discriminants.center_selection.choice import CHOOSERS, chosen_rows
from discriminants.kernels import Kernel, PrecomputedKernel, make_kernel
from discriminants.kernels.named import NAMED
from discriminants.linear_systems.kernel_values import check_size, check_values, kernel_matrix
from discriminants.linear_systems.whitening_map import whitening_map
from discriminants.util.estimator import COUNT, POSITIVE, estimator, parameter
from discriminants.util.expansion import KernelExpansion

BLOCK = 2048  # samples met at a time
_CHECKED = 1024  # samples whose kernel values are looked at before the rest


@estimator
class ChosenCenters(KernelExpansion):
    """Base: `_basis` chooses the centres; outputs are summed in float64, for the weights of nearly dependent centres
    are large and cancel.

    Parameters
    ----------
    kernel
        Symmetric and positive semidefinite, the same for all centres.
    chooser : str or callable
        "k-means" takes the samples nearest to the means of clusters, "feature-vectors" always that in whose span all
        samples lie best, "cholesky" that furthest from the span of those chosen, "entropy" those of greatest quadratic
        Renyi entropy, "leverage" draws by leverage scores, "random" any; "greedy" takes the ones that explain y best,
        by forward selection. A function is called with samples, kernel, number of centres, RandomState and targets (or
        None) and gives row numbers.
    n_candidates : int or None
        The choice is made among, and by, so many samples drawn at random; None is all of them. The choosers but
        "random", "entropy" and "leverage" keep up to 8 bytes for each and each centre.
    tol : float
        A centre is left out when no more than this share of the largest k(x, x) of it lies outside the span of others.

    Attributes
    ----------
    center_indices_ : ndarray of int of shape (m,)
        Rows of the training samples; not in the order of choice.
    """

    kernel: Any = parameter(set(NAMED), Kernel, callable, default="gaussian")
    sigma: Any = parameter({"scale"}, POSITIVE, np.ndarray, default="scale")
    chooser: Any = parameter(set(CHOOSERS), callable, default="k-means")
    n_candidates: int | None = parameter(COUNT, None, default=20_000)
    tol: float = parameter(Interval(Real, 0, 1, closed="left"), default=1e-10)
    random_state: Any = parameter("random_state", default=None)

    def _basis(
        self, X: np.ndarray, n_centers: int, targets: np.ndarray | None, centers: np.ndarray | None = None
    ) -> tuple[Kernel, np.ndarray, np.ndarray]:
        """Kernel for the centres, centres (m, n_features), and the map (m, m) that whitens their columns.

        `centers` are taken in place of a choice, as far as they are independent. Raises ValueError if the kernel does
        not fit, or is the same for all samples.
        """
        if X.shape[0] < 2:
            raise ValueError(f"{type(self).__name__} needs at least two samples, got 1 sample")
        kernel = make_kernel(self.kernel, self.sigma).resolved(X)
        one_for_all = kernel.centers_are_points and kernel.over(X[:1])[1].size == 1
        if not (one_for_all or isinstance(kernel, PrecomputedKernel)):
            raise ValueError(f"{type(self).__name__} needs a symmetric kernel, the same for all centres, got {kernel}")
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
        """All outputs for checked X, in its float type."""
        outputs = np.empty((X.shape[0], self.intercept_.shape[0]), dtype=X.dtype)
        for start in range(0, X.shape[0], BLOCK):
            rows = slice(start, start + BLOCK)
            outputs[rows] = super()._outputs(X[rows].astype(np.float64, copy=False))
        return outputs
