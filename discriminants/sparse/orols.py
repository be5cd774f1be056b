"""Order-recursive orthogonal least squares with a self-adjusting ridge (Andelic 2007, 3.4.2, algorithm 2)."""

from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from discriminants.center_selection.forward.forward_selection import SelectionState
from discriminants.center_selection.forward.learner import ForwardSelectionLearner
from discriminants.center_selection.forward.orthogonal_system import OrthogonalSystem
from discriminants.center_selection.forward.path import SelectionPath
from discriminants.kernels import Kernel
from discriminants.multiclass.one_vs_rest import OneVsRestClassifier
from discriminants.util.estimator import COUNT, NOT_NEGATIVE, estimator, parameter
from discriminants.util.regression import KernelRegressor

_REESTIMATIONS = {
    "gcv": OrthogonalSystem.reestimate_lambda,
    "evidence": OrthogonalSystem.maximize_evidence,
}


@estimator
class _RegularizedLeastSquares(ForwardSelectionLearner):
    """Base with a ridge on the orthogonal weights, re-estimated after every column.

    Parameters
    ----------
    reestimation : {"gcv", "evidence"}
        Criterion for lambda: generalized cross-validation (3.85-3.89), minimized, or the Bayesian evidence (MacKay
        1992), maximized. The source mentions the evidence as an alternative.
    tol : float
        Selection ends if lambda changed by less than this fraction in each of `patience` steps; 0 never stops.
    patience : int
        Number of steps for `tol`.
    max_condition : float
        Largest ratio of the lengths of two columns of Q.
    norm_penalty
        With it the ridge on the orthogonal weights no longer provides all the smoothing. The error used by GCV and the
        evidence includes the penalty, as if it were further samples with target zero.

    Attributes
    ----------
    lambda_ : ndarray of shape (n_dictionaries,)
        Final penalty of each dictionary.
    gcv_ : ndarray of shape (n_dictionaries,)
        Generalized cross-validation score (3.85) at the end.

    References
    ----------
    E. Andelic, M. Schaffoener, M. Katz, S. Krueger, A. Wendemuth, Updates for Nonlinear Discriminants, IJCAI
    2007. M. Orr, Regularization in the selection of radial basis function centers, Neural Computation 7,
    1995. D. MacKay, Bayesian interpolation, Neural Computation 4, 1992.
    """

    reestimation: str = parameter(set(_REESTIMATIONS), default="gcv")
    tol: float = parameter(NOT_NEGATIVE, default=1e-4)
    patience: int = parameter(COUNT, default=10)
    max_condition: float = parameter(Interval(Real, 1, None, closed="neither"), default=1e8)

    def _begin(self, state: SelectionState) -> None:
        self._settled_steps = 0

    def _after_column(self, state: SelectionState) -> bool:
        before = state.lam
        state.lam = _REESTIMATIONS[self.reestimation](state.system, before)
        settled = abs(state.lam - before) < self.tol * state.lam
        self._settled_steps = self._settled_steps + 1 if settled else 0
        lengths = np.sqrt(state.system.energies[1:])  # the constant has another unit, and no column depends on it
        return bool(self._settled_steps >= self.patience or lengths.max() > self.max_condition * lengths.min())

    def _keep(
        self, X: np.ndarray, points: np.ndarray, kernel: Kernel, paths: list[SelectionPath], sizes: list[int]
    ) -> None:
        super()._keep(X, points, kernel, paths, sizes)
        self.lambda_ = np.array([path.lam(size) for path, size in zip(paths, sizes, strict=True)])
        self.gcv_ = np.array(
            [
                path.system(size).generalised_cross_validation(path.lam(size))
                for path, size in zip(paths, sizes, strict=True)
            ]
        )
        del self._settled_steps


@estimator
class OROLSClassifier(_RegularizedLeastSquares, OneVsRestClassifier):
    """Regularized least squares in forward-selected kernel columns, with ridge and size set by cross-validation.

    After every column lambda is re-estimated (3.88), and the new value applies to all columns: residual, error
    reduction and weights belong to the current lambda. The ridge and the size are set by generalized cross-validation.
    The weights are (K'K + lambda U'U)^-1 K'y, because the penalty is on the orthogonal weights (3.80). Selection ends
    when lambda has settled, when the condition number of Q exceeds `max_condition`, or at `n_centers`. A shared
    dictionary has one lambda for all outputs (their GCV is summed); private dictionaries have one for each output.

    See Also
    --------
    NPDClassifier : pseudo-discriminant analysis.
    SparseKernelLogisticClassifier : logistic loss and better posteriors.
    """

    _takes_weights: ClassVar[bool] = True


@estimator
class OROLSRegressor(_RegularizedLeastSquares, KernelRegressor):
    """Regularized least squares in forward-selected kernel columns, with a self-adjusting ridge.

    y may have several columns. The algorithm is that of `OROLSClassifier`.

    The bias is penalized like every other orthogonal weight (3.80). If the mean of the targets is large relative to
    their standard deviation, center them first, for example with `sklearn.compose.TransformedTargetRegressor`.

    See Also
    --------
    LSSVMRegressor : every sample is a center.
    KRLSRegressor : for streams.
    """

    _takes_weights: ClassVar[bool] = True
    criterion: str | None = "cv"
