"""The dense kernel Fisher discriminant, with every training sample as a center (Andelic 2007, section 3.3)."""

import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from discriminants.kernels import make_kernel
from discriminants.linear_systems.centred_scatter import PENALTIES, RidgeSolution
from discriminants.linear_systems.coordinate_descent import BLOCK_SIZE, block_descent
from discriminants.linear_systems.kernel_conjugate_gradients import kernel_conjugate_gradients
from discriminants.linear_systems.kernel_values import check_some_columns, dictionary, kernel_matrix
from discriminants.linear_systems.penalty_choice import penalty_given_or_chosen
from discriminants.linear_systems.penalty_path import PenaltyPath
from discriminants.multiclass.labels import class_codes, one_vs_rest_targets
from discriminants.multiclass.one_vs_rest import winners
from discriminants.multiclass.thresholded import ThresholdedClassifier
from discriminants.util.estimator import POSITIVE, estimator, parameter
from discriminants.util.inputs import checked_samples

_PASSES = 10  # evaluations of all kernel values after which the descent is given up


@estimator
class KFDClassifier(ThresholdedClassifier):
    """Kernel Fisher discriminant (Andelic 2007, 3.36-3.43; Mika 2002), the dense reference of the sparse learners.

    The direction of a class against the rest is alpha = (S_W + R)^-1 (m_+ - m_-) (3.41); S_W is the within-class
    scatter of the kernel columns and R the penalty. S_W is the total scatter S_T = K'HK, H = I - 11'/N, less a rank-one
    term in (m_+ - m_-). Therefore (S_T + R)^-1 (m_+ - m_-) is parallel to it (Sherman and Morrison). Since K'Hy = 2 M_+
    M_- / N (m_+ - m_-) for labels y = +-1, regularized least squares onto the labels is parallel, too (3.43). The scale
    and bias of least squares are used: the outputs of all classes are comparable, and share one factorization.

    With C = HKK'H (penalty "identity") or C = HKH (penalty "kernel") and beta = (C + mu I)^-1 Hy, the solution is
    alpha = K'beta or alpha = beta, and the bias is the mean of y - K alpha. Time is O(N^3); memory is 16 N^2 bytes for
    the penalty "identity" and 8 N^2 for "kernel". X of any float type is processed in float64. If the matrix does not
    fit into memory, use `solver="coordinate_descent"`. Leave-one-out inverts the factor;
    `calibrate_on="leave_label_out"` needs the penalty "identity".

    Parameters
    ----------
    regularization : "auto" or float
        mu > 0; the scatter is unnormalized, so the same mu has less effect with more samples. "auto" tries 17 values
        that fit the kernel's scale (`linear_systems.penalty_choice.usual_penalties`). It takes the one with the least
        squared error on left-out samples, each with its kernel column. At most 2000 samples are used; this takes two
        seconds and 200 MB.
    calibrate_on : {"auto", "training", "leave_one_out", "leave_label_out", "held_out"}
    solver : {"direct", "coordinate_descent"}
        One factorization, or descent in blocks of samples (penalty "kernel" only; Mika 2002, section 3.5.3). A descent
        that ten evaluations of all kernel values do not finish is replaced by preconditioned conjugate gradients, with
        memory of 3600 N bytes.
    significant_figures : int
        Number of significant figures to which the primal and the dual objective must agree to end the descent. The
        source uses one (Mika 2002, figure 5.9), which changes up to 4 % of the labels.

    Attributes
    ----------
    basis_centers_ : ndarray of shape (m, n_features)
        The training samples, each repeated for every width of the kernel: normally once.
    regularization_ : float
        Value used.

    See Also
    --------
    LinearDiscriminant : the same in the space of the inputs.
    """

    regularization: float | str = parameter(POSITIVE, {"auto"}, default="auto")
    penalty: str = parameter(set(PENALTIES), default="identity")
    calibrate_on: str = parameter({"auto", "training", "leave_one_out", "leave_label_out", "held_out"}, default="auto")
    solver: str = parameter({"direct", "coordinate_descent"}, default="direct")
    significant_figures: int = parameter(Interval(Integral, 1, 12, closed="both"), default=6)

    _takes_weights: ClassVar[bool] = True
    _sparse_inputs: ClassVar[bool] = True

    def _fit_targets(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None) -> None:
        if self.solver == "coordinate_descent":
            if weight is not None:
                raise ValueError("sample_weight and class_weight need solver = 'direct', got 'coordinate_descent'")
            self._descend(X, targets)
            return
        resolved = make_kernel(self.kernel, self.sigma).resolved(X, weight)
        kernel, centers = dictionary(resolved, X)
        if weight is not None and centers.shape[0] != X.shape[0]:
            raise ValueError(f"sample_weight and class_weight need a kernel with one column per sample, got {resolved}")
        K = kernel_matrix(kernel, X, centers)
        self.regularization_ = penalty_given_or_chosen(self.regularization, resolved, X, targets, self.penalty, K)
        solution = RidgeSolution(K, targets, self.regularization_, self.penalty, weight)
        self._keep_expansion(kernel, centers, solution.alpha, solution.bias)
        if self._leaves_one_out():
            self._left_out = solution.leave_one_out_outputs(own_column=self.calibrate_on == "leave_label_out")

    def _descend(self, X: np.ndarray, targets: np.ndarray) -> None:
        if self.penalty != "kernel" or self.calibrate_on in ("leave_one_out", "leave_label_out"):
            raise ValueError(
                f"solver = 'coordinate_descent' does not support penalty = {self.penalty!r} with calibrate_on = "
                f"{self.calibrate_on!r}. Expected penalty = 'kernel' and no leave-one-out. "
                "Use calibrate_on = 'held_out'"
            )
        resolved = make_kernel(self.kernel, self.sigma).resolved(X)
        kernel, centers = dictionary(resolved, X)
        if centers.shape[0] != X.shape[0]:
            raise ValueError(f"penalty = 'kernel' needs a kernel with one column per sample, got {resolved}")
        check_some_columns(kernel, X, "penalty = 'kernel'")
        self.regularization_ = penalty_given_or_chosen(self.regularization, resolved, X, targets, self.penalty)
        figures, max_blocks = float(self.significant_figures), max(100, _PASSES * X.shape[0] // BLOCK_SIZE)
        found: Any = block_descent(kernel, X, targets, self.regularization_, figures=figures, max_blocks=max_blocks)
        if not found.converged:
            tol = 10.0**-figures
            found = kernel_conjugate_gradients(kernel, X, targets, self.regularization_, tol=tol)
            if not found.converged:
                warnings.warn(
                    f"{type(self).__name__}: the solver did not reach significant_figures = "
                    f"{self.significant_figures}; the relative residual is {found.residual:.2g}. "
                    "Use a larger regularization",
                    ConvergenceWarning,
                    stacklevel=4,
                )
        self._keep_expansion(kernel, centers, found.alpha, found.bias)

    def _calibration_outputs(self, X: np.ndarray, targets: np.ndarray) -> np.ndarray:
        if not self._leaves_one_out():
            return super()._calibration_outputs(X, targets)
        outputs = self._left_out
        del self._left_out
        return outputs

    def leave_one_out_errors(self, X: np.ndarray, y: np.ndarray, regularizations: Sequence[float]) -> np.ndarray:
        """Error rate with each sample and its kernel column left out, for each of several values of `regularization`.

        All of them come from one eigendecomposition, in memory of 32 N^2 bytes. At 3000 samples it takes twice as long
        as a `fit` that chooses its `regularization`, and 4 to 6 times as long as one with a given value. The parameter
        `regularization` and fitted attributes are not used, and nothing is stored. The width "scale" is computed on all
        samples; if a kernel has several columns per sample, these also stay.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        regularizations : sequence of float
            Values to try; each positive.

        Returns
        -------
        ndarray of shape (len(regularizations),)
            Error rates, 0 to 1.

        Raises
        ------
        ValueError
            As in `fit`, and if a value of `regularizations` is not positive.
        """
        self._validate_params()
        X, y = checked_samples(clone(self), X, y)  # a fit would keep the number of features
        classes, codes = class_codes(y)
        kernel, centers = dictionary(make_kernel(self.kernel, self.sigma).resolved(X), X)
        path = PenaltyPath(kernel_matrix(kernel, X, centers), self.penalty)
        targets = one_vs_rest_targets(codes, classes.shape[0])
        outputs = path.leave_one_out_outputs(targets, regularizations, own_column=False)
        return np.array([(winners(output) != codes).mean() for output in outputs])
