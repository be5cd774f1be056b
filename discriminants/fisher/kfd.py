"""The kernel Fisher discriminant, dense: every training sample is a centre (Andelic 2007, section 3.3)."""

from collections.abc import Sequence
from numbers import Integral

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_X_y

from discriminants.kernels import make_kernel
from discriminants.linear_systems.centred_scatter import PENALTIES, RidgeSolution
from discriminants.linear_systems.coordinate_descent import block_descent
from discriminants.linear_systems.kernel_values import check_some_columns, dictionary, kernel_matrix
from discriminants.linear_systems.penalty_choice import penalty_given_or_chosen
from discriminants.linear_systems.penalty_path import PenaltyPath
from discriminants.multiclass.labels import class_codes
from discriminants.multiclass.one_vs_rest import one_vs_rest_targets, winners
from discriminants.multiclass.thresholded import ThresholdedClassifier
from discriminants.util.estimator import POSITIVE, estimator, parameter
from discriminants.util.expansion import FLOATS


@estimator
class KFDClassifier(ThresholdedClassifier):
    """Kernel Fisher discriminant (Andelic 2007, 3.36-3.43; Mika 2002): the dense reference of the sparse learners.

    A class's direction against the rest is alpha = (S_W + R)^-1 (m_+ - m_-) (3.41), S_W the within-class scatter
    of the kernel columns, R the penalty. S_W is the total scatter S_T = K'HK, H = I - 11'/N, less a rank-one term
    in (m_+ - m_-), so (S_T + R)^-1 (m_+ - m_-) is parallel to it (Sherman and Morrison), and as
    K'Hy = 2 M_+ M_- / N (m_+ - m_-) for labels y = +-1, so is regularized least squares onto the labels (3.43). That
    last scale, and its bias, are the ones kept: the outputs of all classes compare, and share one factorisation.

    With C = HKK'H (penalty "identity") or C = HKH (penalty "kernel") and beta = (C + mu I)^-1 Hy, the solution is
    alpha = K'beta or alpha = beta, and the bias is the mean of y - K alpha. Time is O(N^3), memory 16 N^2 bytes for
    the penalty "identity" and 8 N^2 for "kernel", whatever the float type of X: the work is done in float64. Where the
    matrix does not fit, `solver="coordinate_descent"` does without it. Leaving one out inverts the factor;
    `calibrate_on="leave_label_out"` needs the penalty "identity".

    Parameters
    ----------
    regularization : "auto" or float
        mu > 0; the scatter is unnormalized, so the same mu weighs less the more samples there are. "auto" takes that of
        17 which fit the kernel's scale (`linear_systems.penalty_choice.usual_penalties`) with which samples left out
        have the least squared error, 2000 of them at most, each with its kernel column; that takes two seconds and
        200 MB.
    calibrate_on : {"auto", "training", "leave_one_out", "leave_label_out", "held_out"}
    solver : {"direct", "coordinate_descent"}
        One factorisation, or descent in blocks of samples, for which 1600 N bytes serve (penalty "kernel" only;
        Mika 2002, section 3.5.3).
    significant_figures : int
        On which the primal and the dual objective have to agree for the descent to end; one is enough for
        classification (Mika 2002, figure 5.9).

    Attributes
    ----------
    basis_centers_ : ndarray of shape (m, n_features)
        The training samples, each as often as the kernel has widths to choose from: once, as a rule.
    regularization_ : float
        The one taken.

    See Also
    --------
    LinearDiscriminant : the same in the space of the inputs.
    """

    regularization: float | str = parameter(POSITIVE, {"auto"}, default="auto")
    penalty: str = parameter(set(PENALTIES), default="identity")
    calibrate_on: str = parameter({"auto", "training", "leave_one_out", "leave_label_out", "held_out"}, default="auto")
    solver: str = parameter({"direct", "coordinate_descent"}, default="direct")
    significant_figures: int = parameter(Interval(Integral, 1, 12, closed="both"), default=1)

    def _fit_targets(self, X: np.ndarray, targets: np.ndarray) -> None:
        if self.solver == "coordinate_descent":
            self._descend(X, targets)
            return
        resolved = make_kernel(self.kernel, self.sigma).resolved(X)
        kernel, centers = dictionary(resolved, X)
        K = kernel_matrix(kernel, X, centers)
        self.regularization_ = penalty_given_or_chosen(self.regularization, resolved, X, targets, self.penalty, K)
        solution = RidgeSolution(K, targets, self.regularization_, self.penalty)
        self._keep_expansion(kernel, centers, solution.alpha, solution.bias)
        if self._leaves_one_out():
            self._left_out = solution.leave_one_out_outputs(own_column=self.calibrate_on == "leave_label_out")

    def _descend(self, X: np.ndarray, targets: np.ndarray) -> None:
        if self.penalty != "kernel" or self.calibrate_on in ("leave_one_out", "leave_label_out"):
            raise ValueError(
                "solver = 'coordinate_descent' is for penalty = 'kernel', and has no leave-one-out outputs: take "
                "calibrate_on = 'held_out'"
            )
        resolved = make_kernel(self.kernel, self.sigma).resolved(X)
        kernel, centers = dictionary(resolved, X)
        if centers.shape[0] != X.shape[0]:
            raise ValueError("penalty='kernel' needs one kernel column a sample; this kernel has several")
        check_some_columns(kernel, X, "penalty='kernel'")
        self.regularization_ = penalty_given_or_chosen(self.regularization, resolved, X, targets, self.penalty)
        found = block_descent(kernel, X, targets, self.regularization_, figures=float(self.significant_figures))
        self._keep_expansion(kernel, centers, found.alpha, found.bias)

    def _calibration_outputs(self, X: np.ndarray, targets: np.ndarray) -> np.ndarray:
        if not self._leaves_one_out():
            return super()._calibration_outputs(X, targets)
        outputs = self._left_out
        del self._left_out
        return outputs

    def leave_one_out_errors(self, X: np.ndarray, y: np.ndarray, regularizations: Sequence[float]) -> np.ndarray:
        """Error rate with each sample and its kernel column left out, for each of several values of `regularization`.

        All of them come from one eigendecomposition, at 3000 samples twice the work of a `fit` that chooses its
        `regularization`, and 4 to 6 times that of one to which it is given, in memory of 32 N^2 bytes.
        Neither the parameter `regularization` nor anything fitted plays a part, and nothing is stored. The width
        "scale" is worked out on all samples; where a kernel has several columns a sample, they stay, too.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        regularizations : sequence of float
            Each positive.

        Returns
        -------
        ndarray of shape (len(regularizations),)
            Shares of the samples, 0 to 1.

        Raises
        ------
        ValueError
            As `fit`, and for a value of `regularizations` that is not positive.
        """
        self._validate_params()
        X, y = check_X_y(X, y, dtype=FLOATS, order="C", estimator=self)
        classes, codes = class_codes(y)
        kernel, centers = dictionary(make_kernel(self.kernel, self.sigma).resolved(X), X)
        path = PenaltyPath(kernel_matrix(kernel, X, centers), self.penalty)
        targets = one_vs_rest_targets(codes, classes.shape[0])
        outputs = path.leave_one_out_outputs(targets, regularizations, own_column=False)
        return np.array([(winners(output) != codes).mean() for output in outputs])
