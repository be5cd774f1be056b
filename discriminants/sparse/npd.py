"""Nonlinear pseudo-discriminants (Andelic 2007, section 3.4.1, algorithm 1)."""

from typing import ClassVar

import numpy as np

from discriminants.center_selection.forward.forward_selection import SelectionState
from discriminants.center_selection.forward.learner import ForwardSelectionLearner
from discriminants.multiclass.one_vs_rest import OneVsRestClassifier
from discriminants.util.estimator import NOT_NEGATIVE, estimator, parameter
from discriminants.util.regression import KernelRegressor


@estimator
class _PseudoDiscriminant(ForwardSelectionLearner):
    """Least squares in the chosen columns, optionally with a penalty on the norm of the expansion.

    Parameters
    ----------
    residual_threshold : float, optional
        Stop if no residual at the candidates is larger in absolute value. This is the source's criterion for speech
        (4.4.1).

    References
    ----------
    A. Smola, B. Schoelkopf, Sparse greedy matrix approximation for machine learning, ICML 2000 (penalty on the norm).
    """

    residual_threshold: float | None = parameter(NOT_NEGATIVE, None, default=None)

    def _needs_residual(self) -> bool:
        return super()._needs_residual() or self.residual_threshold is not None

    def _after_column(self, state: SelectionState) -> bool:
        if self.residual_threshold is None:
            return False
        return bool(np.abs(state.residual()).max() < self.residual_threshold)


@estimator
class NPDClassifier(_PseudoDiscriminant, OneVsRestClassifier):
    """Least squares onto +-1 targets in forward-selected kernel columns.

    The pseudoinverse is updated column by column (3.62). With K = Q U it is K^+ = U^-1 D^-1 Q', so the thin orthogonal
    form is equivalent, and it stays accurate when the pseudoinverse recursion does not. The weights equal the
    least-squares solution in the chosen columns at every step.

    See Also
    --------
    OROLSClassifier : regularized least squares with the same selection.
    SparseKernelLogisticClassifier : logistic loss and better posteriors.
    """

    _takes_weights: ClassVar[bool] = True


@estimator
class NPDRegressor(_PseudoDiscriminant, KernelRegressor):
    """Least squares in forward-selected kernel columns.

    y may have several columns. The algorithm is that of `NPDClassifier`.

    See Also
    --------
    OROLSRegressor : regularized least squares with the same selection.
    """

    _takes_weights: ClassVar[bool] = True
    criterion: str | None = "cv"
