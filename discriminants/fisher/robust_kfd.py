"""Kernel Fisher discriminants that are robust to outliers (Mika 2002, section 3.4.8)."""

import numpy as np

from discriminants.kernels import make_kernel
from discriminants.linear_systems.box_descent import KernelRows, box_descent
from discriminants.linear_systems.box_interior import box_interior
from discriminants.linear_systems.kernel_values import check_symmetric, check_values
from discriminants.multiclass.thresholded import ThresholdedClassifier
from discriminants.util.estimator import POSITIVE, SHARE, estimator, parameter

_PROBED = 50  # kernel columns checked before the descent


@estimator
class RobustKFDClassifier(ThresholdedClassifier):
    """Fisher's discriminant with absolute or Huber's slacks, which bound the influence of each sample.

    Minimizes sum_i loss(y_i - f(x_i)) + C w'w / 2 on targets +-1 (Mika 2002, 3.50, 3.52), w'w the squared norm of the
    discriminant in the space of the kernel. With absolute slacks it is support vector regression onto the labels with a
    tube of width zero. The dual is solved. Up to 3000 samples use an interior point method with about ten
    factorizations of O(N^3) per output and memory of 24 N^2 bytes (`linear_systems.box_interior`). More samples use
    coordinate descent with memory of O(N) (`linear_systems.box_descent`). This may take minutes per output if C is
    small and the kernel is wide.

    Parameters
    ----------
    kernel
        Symmetric and positive semidefinite.
    regularization : float
        C > 0.
    loss : {"absolute", "huber"}
        |xi|, or xi^2 / (2 delta) up to delta and |xi| - delta / 2 beyond.
    delta : float
        Slack at which Huber's loss becomes linear, in units of the targets; usually 0.5 to 1 times a robust scale of
        the slacks.
    tol : float
        Tolerance of the optimality conditions, in units of the targets.
    threshold
        "least_squares" keeps the bias of this loss.

    posterior
        Outputs of this loss are peaked at +-1 rather than normal.

    Attributes
    ----------
    center_indices_ : ndarray of int of shape (m,)
        Rows of the training samples that have a weight.

    References
    ----------
    P. Huber, Robust Statistics, Wiley 1981.

    See Also
    --------
    SparseKFDClassifier : absolute slacks and few centers.
    """

    regularization: float = parameter(POSITIVE, default=0.1)
    loss: str = parameter({"absolute", "huber"}, default="absolute")
    delta: float = parameter(POSITIVE, default=0.5)
    tol: float = parameter(SHARE, default=1e-3)

    def _fit_targets(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None) -> None:
        kernel, points = make_kernel(self.kernel, self.sigma).resolved(X).over(X)
        if points.shape[0] != X.shape[0]:
            raise ValueError(f"RobustKFDClassifier needs a kernel with one column per sample, got {kernel}")
        columns = KernelRows(kernel, X)
        some = np.unique(np.linspace(0, X.shape[0] - 1, _PROBED).astype(np.intp))
        probe = columns.at(some)
        check_values(probe)
        check_symmetric(probe[some], "RobustKFDClassifier")
        delta = float(self.delta) if self.loss == "huber" else 0.0
        C = float(self.regularization)
        found = []
        for target in targets.T.astype(np.float64):
            start = None if columns.whole is None else box_interior(columns.whole, target, C, delta, self.tol)
            found.append(box_descent(columns, target, C, delta, start=start, tol=self.tol))
        weights = np.stack([descent.beta for descent in found], axis=1) / C
        kept = np.flatnonzero(weights.any(axis=1))
        if not kept.size:
            kept = np.array([0])
        self.center_indices_ = kept
        self._keep_expansion(kernel.at(kept), X[kept], weights[kept], np.array([descent.bias for descent in found]))
