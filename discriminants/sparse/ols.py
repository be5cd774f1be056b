"""Orthogonal least squares over the full Gram matrix (Chen, Cowan and Grant 1991; Andelic 2007, 3.71-3.75)."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from discriminants.center_selection.forward.forward_selection import SelectionState
from discriminants.center_selection.forward.gram_schmidt_state import GramSchmidtState
from discriminants.center_selection.forward.kernel_matrix import KernelMatrix
from discriminants.center_selection.forward.learner import ForwardSelectionLearner, StateMaker
from discriminants.kernels import Kernel
from discriminants.multiclass.one_vs_rest import OneVsRestClassifier
from discriminants.util.estimator import estimator, field, parameter
from discriminants.util.regression import KernelRegressor


@estimator
class _OrthogonalLeastSquares(ForwardSelectionLearner):
    """Modified Gram-Schmidt over all candidate columns.

    Parameters
    ----------
    unexplained : float
        Stop if at most this fraction of the targets' variance is unexplained (one minus the summed error reduction
        ratios); 0 continues to `n_centers`.
    n_candidates : int, optional
        Number of candidates drawn at random; None uses all samples. All their columns are stored: O(N P) memory.

    References
    ----------
    S. Chen, C. Cowan, P. Grant, Orthogonal least squares learning algorithm for radial basis function
    networks, IEEE Transactions on Neural Networks 2, 1991.
    """

    unexplained: float = parameter(Interval(Real, 0, 1, closed="left"), default=0.0)
    n_candidates: int | None = None
    norm_penalty: float = field(default=0.0, init=False)
    rule: Any = field(default="error_reduction", init=False)
    candidates: str = field(default="random", init=False)

    def _state_maker(
        self, kernel: Kernel, X: np.ndarray, targets: np.ndarray, points: np.ndarray, weight: np.ndarray | None = None
    ) -> StateMaker:
        matrix = KernelMatrix(kernel, X, points, self.epsilon)
        return lambda which, n_centers: GramSchmidtState(matrix, targets[:, which], n_centers)

    def _after_column(self, state: SelectionState) -> bool:
        return bool(state.system.unexplained.sum() <= self.unexplained * state.system.target_energy.sum())


@estimator
class OLSClassifier(_OrthogonalLeastSquares, OneVsRestClassifier):
    """Forward selection by error reduction with modified Gram-Schmidt over all candidate columns.

    The classical baseline. It chooses the same centers and weights as `NPDClassifier(rule="error_reduction")` over the
    same candidates. It takes O(N P) memory and O(N P m) time; the Gram form takes O(P^2) and O(N P^2 / 2).

    See Also
    --------
    NPDClassifier : the same criterion over all samples.
    OROLSClassifier : with regularization.

    Examples
    --------
    >>> OLSClassifier(10).fit(X, y).predict(X[:3])
    array([0, 0, 0])
    """


@estimator
class OLSRegressor(_OrthogonalLeastSquares, KernelRegressor):
    """Forward selection by error reduction with modified Gram-Schmidt over all candidate columns.

    y may have several columns. Memory and time are those of `OLSClassifier`.

    See Also
    --------
    OROLSRegressor : with regularization.
    """

    criterion: str | None = "cv"
